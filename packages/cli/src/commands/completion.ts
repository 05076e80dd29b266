import { Argument, type Command } from 'commander';
import { examples, type App } from '../app.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `completion`: prints a shell completion script. */
export function completionCommand(app: App, base: Command): Command {
  return base
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      `
It completes commands, options and their choices.
${examples(
  ['completion bash', 'In ~/.bashrc: source <(call-webhooks completion bash)'],
  ['completion zsh', 'In ~/.zshrc, after compinit: source <(call-webhooks completion zsh)'],
  ['completion fish', 'Write it to ~/.config/fish/completions/call-webhooks.fish'],
)}`,
    )
    .action(
      app.action(async (shell: string, _options: object, command: Command) => {
        const script = SCRIPTS[shell as keyof typeof SCRIPTS](entriesOf(command.parent ?? command));
        if (app.output.json) await app.output.print({ shell, script });
        else await app.output.write(script);
        return undefined;
      }),
    );
}

/** A word that may come next, and what it does. */
interface Word {
  readonly word: string;
  readonly what: string;
}

/** What may follow a command. The path of the program itself is empty. */
interface Entry {
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly (Word & { readonly choices: readonly string[] })[];
}

function entriesOf(command: Command, path = '', shared = optionsOf(command)): Entry[] {
  const own: Entry = {
    path,
    commands: command.commands.map((one) => ({ word: one.name(), what: one.description() })),
    options: path === '' ? shared : [...optionsOf(command), ...shared],
  };
  const below = command.commands.flatMap((one) =>
    entriesOf(one, `${path} ${one.name()}`.trim(), shared),
  );
  return [own, ...below];
}

const optionsOf = ({ options }: Command): Entry['options'] =>
  options.flatMap(({ long, description, argChoices }) =>
    long ? [{ word: long, what: description, choices: argChoices ?? [] }] : [],
  );

/** Quotes a text for bash and zsh. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function bashScript(entries: readonly Entry[]): string {
  const paths = entries.slice(1).map(({ path }) => quote(path));
  const cases = entries.map(({ path, commands, options }) => {
    const words = [...commands, ...options].map(({ word }) => word).join(' ');
    return `    ${quote(path)}) words=${quote(words)} ;;`;
  });
  const choices = entries.flatMap(({ path, options }) =>
    options
      .filter((one) => one.choices.length > 0)
      .map(
        (one) => `    ${quote(`${path} ${one.word}`)}) words=${quote(one.choices.join(' '))} ;;`,
      ),
  );
  return `_call_webhooks() {
  local path='' word previous='' words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    previous=$word
    case "\${path:+$path }$word" in
      ${paths.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  case "$path $previous" in
${choices.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _call_webhooks call-webhooks
`;
}

/** zsh runs completions of bash. */
function zshScript(entries: readonly Entry[]): string {
  return `autoload -Uz bashcompinit && bashcompinit\n${bashScript(entries)}`;
}

function fishScript(entries: readonly Entry[]): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const lines = entries.flatMap(({ path, commands, options }) => {
    const start = `complete -c call-webhooks -n ${quote(`test (__call_webhooks_path) = ${quoted(path)}`)}`;
    return [
      ...commands.map(({ word, what }) => `${start} -f -a ${quoted(word)} -d ${quoted(what)}`),
      ...options.map(({ word, what, choices }) => {
        const line = `${start} -l ${quoted(word.slice(2))} -d ${quoted(what)}`;
        return choices.length > 0 ? `${line} -x -a ${quoted(choices.join(' '))}` : line;
      }),
    ];
  });
  return `function __call_webhooks_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$path $word")
    contains -- $longer ${entries.map(({ path }) => quoted(path)).join(' ')}; and set path $longer
  end
  echo "$path"
end
${lines.join('\n')}
`;
}
