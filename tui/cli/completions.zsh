#compdef hermes-browse
_hermes_browse() {
  local place='' i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    case "${words[i]}" in
    @skipped@) ((i++)); continue ;;
    esac
    case "$place/${words[i]}" in
    @steps@) place="$place/${words[i]}" ;;
    esac
  done
  case "$place ${words[CURRENT-1]}" in
@values@
  esac
  case "$place" in
@places@
  esac
  _describe 'hermes-browse' found
}
if [[ "${funcstack[1]}" == _hermes_browse ]]; then _hermes_browse "$@"; else compdef _hermes_browse hermes-browse; fi
