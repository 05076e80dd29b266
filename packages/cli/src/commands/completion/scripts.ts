import { shellQuote } from '../send/curl.ts';

/** A word that may come next, and what it does. */
export interface Word {
  readonly word: string;
  readonly what: string;
}

/** What may follow a command. The path of the program itself is empty. */
export interface Completion {
  readonly path: string;
  readonly words: readonly Word[];
  readonly options: readonly Word[];
}

const words = (list: readonly Word[]) => list.map(({ word }) => word).join(' ');

/** The script for bash. It finds the command on the line: `deliveries list` in `deliveries list --st`. */
export function bashScript(completions: readonly Completion[]): string {
  const paths = completions.filter(({ path }) => path !== '').map(({ path }) => shellQuote(path));
  const cases = completions.map(
    ({ path, words: next, options }) =>
      `    ${shellQuote(path)}) words=${shellQuote(words(next))}; options=${shellQuote(words(options))} ;;`,
  );
  return `# bash completion of call-webhooks
_call_webhooks() {
  local line=\${COMP_LINE:0:COMP_POINT} path='' word words='' options=''
  # Not COMP_WORDS: bash splits its words at colons.
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
  # The part before a colon is already on the line.
  [[ $current == *:* && $COMP_WORDBREAKS == *:* ]] &&
    COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}")
}
complete -o default -F _call_webhooks call-webhooks
`;
}

const zshWord = ({ word, what }: Word) =>
  shellQuote(`${word.replaceAll(':', '\\:')}${what === '' ? '' : `:${what}`}`);

/** The script for zsh. */
export function zshScript(completions: readonly Completion[]): string {
  const cases = completions.map(
    ({ path, words: next, options }) => `    ${shellQuote(path)})
      next=(${next.map(zshWord).join(' ')})
      options=(${options.map(zshWord).join(' ')}) ;;`,
  );
  const paths = completions.filter(({ path }) => path !== '').map(({ path }) => shellQuote(path));
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

/** The script for fish. */
export function fishScript(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ path, words: next, options }) => {
    const when = `-n ${shellQuote(`test (__call_webhooks_path) = ${fishQuote(path)}`)}`;
    const line = (flag: string, word: string, what: string) =>
      `complete -c call-webhooks ${when} ${flag} ${fishQuote(word)}${what === '' ? '' : ` -d ${fishQuote(what)}`}`;
    return [
      ...next.map(({ word, what }) => line('-f -a', word, what)),
      ...options.map(({ word, what }) => line('-l', word.slice(2), what)),
    ];
  });
  const paths = completions.filter(({ path }) => path !== '').map(({ path }) => fishQuote(path));
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

const fishQuote = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
