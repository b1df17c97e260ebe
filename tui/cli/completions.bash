# bash completion of hermes-browse
_hermes_browse() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} place='' words='' i
  COMPREPLY=()
  # bash parts --view=chats into three words
  if [[ $cur == "=" ]]; then cur=; elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${COMP_WORDS[i]}" in
    @skipped@) [[ ${COMP_WORDS[i+1]} == '=' ]] && ((i++)); ((i++)); continue ;;
    esac
    case "$place/${COMP_WORDS[i]}" in
    @steps@) place="$place/${COMP_WORDS[i]}" ;;
    esac
  done
  case "$place $prev" in
@values@
  esac
  case "$place" in
@places@
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _hermes_browse hermes-browse
