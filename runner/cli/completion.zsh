#compdef haul
# zsh completion for haul: put it as _haul into a folder of $fpath
_haul() {
  local line
  local -a offered shown
  for line in "${(@f)$(haul completion offer -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
    [[ -n $line ]] || continue
    offered+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  compadd -l -d shown -a offered || _files
}
if [ "$funcstack[1]" = _haul ]; then
  _haul "$@"
else
  compdef _haul haul
fi
