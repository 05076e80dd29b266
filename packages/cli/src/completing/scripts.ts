import { shellQuoted } from '../sending/curl.ts';
import type { Completion, Word } from './tree.ts';

const words = (list: readonly Word[]) => list.map(({ word }) => word).join(' ');

/** The commands on the line so far, found by walking it: `deliveries list` for `deliveries list --st`. */
export function bash(completions: readonly Completion[]): string {
  const paths = completions.filter(({ path }) => path !== '').map(({ path }) => shellQuoted(path));
  const cases = completions.map(
    ({ path, words: next, options }) =>
      `    ${shellQuoted(path)}) words=${shellQuoted(words(next))}; options=${shellQuoted(words(options))} ;;`,
  );
  return `# bash completion of call-webhooks
_call_webhooks() {
  local line=\${COMP_LINE:0:COMP_POINT} path='' word words='' options=''
  # Not COMP_WORDS: bash splits the words of that at colons.
  local current=\${line##*[[:space:]]} before
  read -ra before <<< "\${line%"$current"}"
  for word in "\${before[@]:1}"; do
    case " \${path:+$path }$word" in
      ${paths.map((path) => `' '${path}`).join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  [[ $current == -* ]] && words=$options
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$words" -- "$current")
  # What stands before a colon is on the line already.
  [[ $current == *:* && $COMP_WORDBREAKS == *:* ]] &&
    COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}")
}
complete -o default -F _call_webhooks call-webhooks
`;
}

const zshWord = ({ word, what }: Word) =>
  shellQuoted(`${word.replaceAll(':', '\\:')}${what === '' ? '' : `:${what}`}`);

export function zsh(completions: readonly Completion[]): string {
  const cases = completions.map(
    ({ path, words: next, options }) => `    ${shellQuoted(path)})
      next=(${next.map(zshWord).join(' ')})
      options=(${options.map(zshWord).join(' ')}) ;;`,
  );
  const paths = completions.filter(({ path }) => path !== '').map(({ path }) => shellQuoted(path));
  return `#compdef call-webhooks
_call_webhooks() {
  local path_='' word
  local -a next options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${path_:+$path_ }$word" in
      (${paths.join('|')}) path_="\${path_:+$path_ }$word" ;;
    esac
  done
  case "$path_" in
${cases.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe option options
  else
    _describe command next || _files
  fi
}
compdef _call_webhooks call-webhooks
`;
}

export function fish(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ path, words: next, options }) => {
    const when = `-n ${shellQuoted(`test (__call_webhooks_path) = ${fishQuoted(path)}`)}`;
    const line = (flag: string, word: string, what: string) =>
      `complete -c call-webhooks ${when} ${flag} ${fishQuoted(word)}${what === '' ? '' : ` -d ${fishQuoted(what)}`}`;
    return [
      ...next.map(({ word, what }) => line('-f -a', word, what)),
      ...options.map(({ word, what }) => line('-l', word.slice(2), what)),
    ];
  });
  const paths = completions.filter(({ path }) => path !== '').map(({ path }) => fishQuoted(path));
  return `# fish completion of call-webhooks
function __call_webhooks_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$path $word")
    contains -- $longer ${paths.join(' ')}; and set path $longer
  end
  echo "$path"
end
${lines.join('\n')}
`;
}

const fishQuoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
