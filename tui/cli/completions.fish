# fish completion of hermes-browse
function __hermes_browse_at
  set -l place ''
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip = 1
      set skip 0
      continue
    end
    if contains -- $word @skipped@
      set skip 1
      continue
    end
    switch $place/$word
      case @steps@
        set place $place/$word
    end
  end
  test "$place" = "$argv[1]"
end
complete -c hermes-browse -f
@places@
