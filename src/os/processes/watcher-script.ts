/**
 * The watcher's program, for bash or any other POSIX shell. Its arguments: our process id, and the seconds for which our event loop may
 * stand still (0: for ever). Its input, in lines:
 *
 *   + PID MARK   a tree begins; PID is 0 while only its mark is known
 *   - PID MARK   a tree is over
 *   b SECONDS    the event loop turns, and says so again within SECONDS
 *
 * The end of the input is our end: every tree that is open gets TERM, a second, KILL, with all that wears its mark. One look at all
 * processes finds what wears any of the marks: there may be thousands of either.
 *
 * When the loop has been silent for too long, seconds are counted one by one, so that a suspended machine does not count; while we are
 * stopped, they begin anew. A signal to a standing loop lies unread in the pipe from libuv's signal handler to the loop: the pipe that
 * epoll watches and of which we hold both ends. The watcher reads it there and sends every signal again; after a request to end, a loop
 * that still stands three seconds later is given up.
 * A shell that cannot wait for input with a time limit watches over the trees alone.
 */
export const WATCHER_SCRIPT = `
trap '' TERM INT HUP QUIT USR1 USR2 ALRM TSTP
{ ulimit -Sx unlimited || ulimit -Sw unlimited; } 2>/dev/null
node=$1 limit=$2 open=' ' patience=
brief=1
[ "\${BASH_VERSINFO:-0}" -ge 4 ] && brief=0.1
if [ "$limit" -gt 0 ]; then
  (read -r -t 1 line) </dev/null 2>/dev/null
  [ $? -lt 2 ] || limit=0
fi

take() {
  case $op in
    +) open="$open$pid:$mark " ;;
    -) case $open in *" $pid:$mark "*) open="\${open%% $pid:$mark *} \${open#* $pid:$mark }" ;; esac ;;
    b) [ "$limit" -gt 0 ] && patience=$pid ;;
  esac
}

look() {
  state= born=
  kill -0 "$node" 2>/dev/null || return
  if [ -r "/proc/$node/stat" ]; then
    read -r line <"/proc/$node/stat" || return
    set -- \${line##*) }
    state=$1 born=\${20}
  else
    state=$(ps -o state= -p "$node")
  fi
}

is_gone() {
  look
  case $state in ''|Z*|X*) return 0 ;; esac
  [ "$born" != "$first" ]
}

find_pipes() {
  pipes=
  links=$(ls -l "/proc/$node/fd") || return
  for info in /proc/"$node"/fdinfo/*; do
    while read -r key fd rest; do
      [ "$key" = tfd: ] || continue
      target=$(readlink "/proc/$node/fd/$fd")
      case $target in pipe:*) ;; *) continue ;; esac
      [ "$(printf '%s\\n' "$links" | grep -cF -- "-> $target")" = 2 ] && pipes="$pipes $fd"
    done <"$info"
  done
}

read_pipes() {
  sleep 1 &
  for fd in $pipes; do timeout -s KILL 1 dd bs=512 count=1 <"/proc/$node/fd/$fd" & done
  wait
}

wait_a_second() {
  for word in $(read_pipes 2>/dev/null | od -An -v -tu4 | while read -r low high number rest; do echo "$number"; done); do
    case $word in
      1|2|15) kill "-$word" "$node"; asked=\${asked:-$word} ;;
      *) [ "$word" -lt 65 ] && kill "-$word" "$node" ;;
    esac
  done
}

end_node() {
  kill -KILL "$node"
  patience=
  echo "parley: ended: $1" >&2 &
}

stands() {
  is_gone && return
  find_pipes 2>/dev/null
  seconds=0 grace=3 asked=
  while :; do
    wait_a_second 2>/dev/null
    if read -r -t "$brief" op pid mark; then take; return; fi
    is_gone && return
    case $state in T*|t*) seconds=0; sleep 2; continue ;; esac
    seconds=$((seconds + 1))
    [ -n "$asked" ] && grace=$((grace - 1))
    if [ "$grace" -lt 0 ]; then
      end_node "the event loop stands still and does not see the signal to end (SIG$(kill -l "$asked"))"
      return
    fi
    if [ "$seconds" -ge "$limit" ]; then
      end_node "the event loop stood still for $seconds s (limits.stuckSeconds in config.yaml sets how long it may)"
      return
    fi
  done
}

first=
[ "$limit" -gt 0 ] && { look; first=$born; }
while :; do
  if [ -z "$patience" ]; then
    read -r op pid mark || break
    take
  elif read -r -t "$patience" op pid mark; then
    take
  else
    status=$?
    # The end of the input, which not every shell tells from silence.
    [ "$brief" = 0.1 ] && [ "$status" -le 128 ] && break
    is_gone && break
    stands
  fi
done
exec 2>/dev/null
[ "$open" = ' ' ] && exit 0

sweep() {
  set -- "$1"
  for entry in $open; do
    [ "\${entry%%:*}" = 0 ] || kill "-$1" -"\${entry%%:*}"
    set -- "$@" -e "PARLEY_TREE=\${entry#*:}" -e " \${entry#*:} "
  done
  signal=$1; shift
  for facts in $(grep -lF "$@" /proc/[0-9]*/environ /proc/[0-9]*/limits); do
    stray=\${facts#/proc/}; kill "-$signal" "\${stray%/*}"
  done
}
sweep TERM; sleep 1; sweep KILL; sleep 1; sweep KILL
`;
