# bash completion for haul: put it into ~/.local/share/bash-completion/completions/haul
_haul() {
  local line=${COMP_LINE:0:${COMP_POINT:-0}} word item _
  local -a words
  read -ra words <<<"$line"
  if [ -z "$line" ]; then
    words=("${COMP_WORDS[@]:0:COMP_CWORD+1}")
  elif [[ $line == *[[:space:]] ]]; then
    words+=('')
  fi
  word=${words[${#words[@]}-1]}
  COMPREPLY=()
  while IFS=$'\t' read -r item _; do
    COMPREPLY+=("${item#"${word%"${word##*[:=]}"}"}")
  done < <(haul completion offer -- "${words[@]:1}" 2>/dev/null)
}
complete -o default -F _haul haul
