# fish completion for haul: put it into ~/.config/fish/completions/haul.fish
function __haul_offer
  haul completion offer -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null
end
complete -c haul -f -a '(__haul_offer)'
complete -c haul -n 'not count (__haul_offer) >/dev/null' -F
