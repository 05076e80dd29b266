import { shellQuote } from '../send/curl.ts';
import type { Kind, Word } from './values.ts';

/** Words that are known beforehand, or ids that the running simulator is asked for. */
export type Values = readonly Word[] | Kind;

/** An option, and what its value may be. */
export interface OptionWord extends Word {
  readonly takesValue: boolean;
  readonly values?: Values;
}

/** What may follow a command. The path of the program itself is empty. */
export interface Completion {
  readonly path: string;
  readonly words: readonly Word[];
  /** The ids that it takes, one kind for each argument. */
  readonly ids: readonly Kind[];
  readonly options: readonly OptionWord[];
}

const words = (list: readonly Word[]) => list.map(({ word }) => word).join(' ');

const pathsOf = (completions: readonly Completion[]): string[] =>
  completions.map(({ path }) => path).filter((path) => path !== '');

/** Each option of each command that takes a value. */
const valueOptions = (completions: readonly Completion[]) =>
  completions.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ word, values = [] }) => ({ key: `${path} ${word}`.trim(), word, path, values })),
  );

/** The script for bash. It finds the command on the line: `deliveries list` in `deliveries list --st`. */
export function bashScript(completions: readonly Completion[]): string {
  const isIds = (values: Values): values is Kind => typeof values === 'string';
  const assign = (values: Values) =>
    isIds(values) ? `ids=${values}` : `words=${shellQuote(words(values))}`;
  const cases = completions.map(
    ({ path, words: next, ids, options }) =>
      `    ${shellQuote(path)}) words=${shellQuote(words(next))}; kinds=(${ids.join(' ')}); options=${shellQuote(words(options))} ;;`,
  );
  const values = valueOptions(completions).map(
    ({ key, values: of }) => `    ${shellQuote(key)}) ${assign(of)}; options='' ;;`,
  );
  return `# bash completion of call-webhooks
_call_webhooks() {
  local line=\${COMP_LINE:0:COMP_POINT} path='' word words='' options='' ids='' given=0 previous=''
  local -a kinds=()
  # Not COMP_WORDS: bash splits its words at colons.
  local current=\${line##*[[:space:]]} before
  read -ra before <<< "\${line%"$current"}"
  for word in "\${before[@]:1}"; do
    previous=$word
    case " \${path:+$path }$word" in
      ${pathsOf(completions)
        .map((path) => `' '${shellQuote(path)}`)
        .join('|')}) path="\${path:+$path }$word"; given=0 ;;
      *) [[ $word == -* ]] || given=$((given + 1)) ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  ids=\${kinds[given]:-}
  [[ $current == -* ]] && words=$options ids=''
  case "\${path:+$path }$previous" in
${values.join('\n')}
  esac
  [[ -n $ids ]] && words+=" $("\${before[0]}" completion ids "$ids" 2> /dev/null | cut -f 1)"
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
  const list = (of: readonly Word[]) => of.map(zshWord).join(' ');
  const cases = completions.map(
    ({ path, words: next, ids, options }) => `    ${shellQuote(path)})
      next=(${list(next)})
      kinds=(${ids.join(' ')})
      options=(${list(options)}) ;;`,
  );
  const values = valueOptions(completions).map(
    ({ key, values: of }) =>
      `    ${shellQuote(key)}) ${typeof of === 'string' ? `ids=${of}; next=()` : `ids=''; next=(${list(of)})`}; value=1 ;;`,
  );
  return `#compdef call-webhooks
_call_webhooks() {
  local path_='' word previous='' ids='' row id given=0 value=''
  local -a next options kinds
  for word in "\${(@)words[2,CURRENT-1]}"; do
    previous=$word
    case "\${path_:+$path_ }$word" in
      (${pathsOf(completions)
        .map((path) => shellQuote(path))
        .join('|')}) path_="\${path_:+$path_ }$word"; given=0 ;;
      (*) [[ $word == -* ]] || given=$((given + 1)) ;;
    esac
  done
  case "$path_" in
${cases.join('\n')}
  esac
  ids=\${kinds[given+1]:-}
  case "\${path_:+$path_ }$previous" in
${values.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* && -z $value ]]; then
    _describe option options
    return
  fi
  if [[ -n $ids ]]; then
    while IFS=$'\\t' read -r id row; do
      next+=("$id:\${row//:/ }")
    done < <("\${words[1]}" completion ids "$ids" 2> /dev/null)
  fi
  _describe -V command next || _files
}
compdef _call_webhooks call-webhooks
`;
}

/** The script for fish. */
export function fishScript(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ path, words: next, ids, options }) => {
    const when = `-n ${shellQuote(`test (__call_webhooks_path) = ${fishQuote(path)}`)}`;
    const line = (flag: string, word: string, what: string) =>
      `complete -c call-webhooks ${when} ${flag} ${fishQuote(word)}${what === '' ? '' : ` -d ${fishQuote(what)}`}`;
    const asked = (kind: Kind) => `'(__call_webhooks_ids ${kind})'`;
    return [
      ...next.map(({ word, what }) => line('-f -a', word, what)),
      ...ids.map((kind) => `complete -c call-webhooks ${when} -f -k -a ${asked(kind)}`),
      ...options.map(({ word, what, takesValue, values = [] }) => {
        const option = line('-l', word.slice(2), what);
        if (!takesValue) return option;
        if (typeof values === 'string') return `${option} -x -k -a ${asked(values)}`;
        return values.length > 0 ? `${option} -x -a ${fishQuote(words(values))}` : `${option} -r`;
      }),
    ];
  });
  const paths = pathsOf(completions).map(fishQuote);
  return `# fish completion of call-webhooks
function __call_webhooks_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$path $word")
    contains -- $longer ${paths.join(' ')}; and set path $longer
  end
  echo "$path"
end
function __call_webhooks_ids
  set -l program (commandline -opc)[1]
  $program completion ids $argv[1] 2>/dev/null
end
${lines.join('\n')}
`;
}

const fishQuote = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
