import { EVENT_NAMES } from '@call-webhooks/core';
import { Argument, type Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { CODES } from '../explain.ts';
import { SCENARIOS } from '../trigger/scenarios.ts';
import { bashScript, fishScript, zshScript, type Completion, type Word } from './scripts.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `completion`: prints a shell completion script. */
export function completionCommand(app: App, base: Command): Command {
  return base
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText(
      'after',
      examples(
        ['completion bash', 'In ~/.bashrc: source <(call-webhooks completion bash)'],
        ['completion zsh', 'In ~/.zshrc, after compinit: source <(call-webhooks completion zsh)'],
        ['completion fish', 'Write it to ~/.config/fish/completions/call-webhooks.fish'],
      ),
    )
    .action(
      app.action(async (shell: keyof typeof SCRIPTS, _options: object, command: Command) => {
        const script = SCRIPTS[shell](completionsOf(command.parent ?? command));
        if (app.output.json) await app.output.print({ shell, script });
        else await app.output.write(script);
        return undefined;
      }),
    );
}

const plainWords = (names: readonly string[]): Word[] => names.map((word) => ({ word, what: '' }));

/** The arguments of commands that take a fixed set of words. */
const ARGUMENTS: Readonly<Record<string, readonly Word[]>> = {
  trigger: Object.entries(SCENARIOS).map(([word, { what }]) => ({ word, what })),
  send: plainWords(EVENT_NAMES),
  explain: plainWords(CODES),
  completion: plainWords(Object.keys(SCRIPTS)),
};

/** What may follow each command, the program itself included. */
function completionsOf(command: Command, path = ''): Completion[] {
  const shared = path === '' ? [] : optionsOf(rootOf(command), ['--json', '--color', '--no-color']);
  const subcommands = command.commands.map((one) => ({
    word: one.name(),
    what: one.description(),
  }));
  const own: Completion = {
    path,
    words: [...subcommands, ...(ARGUMENTS[path] ?? [])],
    options: [...optionsOf(command), ...shared, { word: '--help', what: 'display help' }],
  };
  const below = command.commands.flatMap((one) =>
    completionsOf(one, path === '' ? one.name() : `${path} ${one.name()}`),
  );
  return [own, ...below];
}

const rootOf = (command: Command): Command => (command.parent ? rootOf(command.parent) : command);

const optionsOf = (command: Command, only?: readonly string[]): Word[] =>
  command.options
    .map(({ long, description }) => ({ word: long ?? '', what: description }))
    .filter(({ word }) => word !== '' && (only?.includes(word) ?? true));
