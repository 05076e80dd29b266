import { EVENT_NAMES } from '@call-webhooks/core';
import { Argument, type Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput } from '../../errors.ts';
import { escapeControl } from '../../terminal/text.ts';
import { CODES } from '../explain.ts';
import { SCENARIOS } from '../trigger/scenarios.ts';
import { bashScript, fishScript, zshScript, type Completion, type OptionWord } from './scripts.ts';
import {
  ARGUMENT_KINDS,
  CHAOS_MODES,
  KINDS,
  OPTION_VALUES,
  valuesOf,
  type Kind,
  type Word,
} from './values.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `completion`: prints a shell completion script. */
export function completionCommand(app: App, base: Command): Command {
  return base
    .addArgument(new Argument('<shell>').choices([...Object.keys(SCRIPTS), 'ids']))
    .addArgument(new Argument('[kind]', 'with ids: what the script asks for').choices(KINDS))
    .addHelpText(
      'after',
      examples(
        ['completion bash', 'In ~/.bashrc: source <(call-webhooks completion bash)'],
        ['completion zsh', 'In ~/.zshrc, after compinit: source <(call-webhooks completion zsh)'],
        ['completion fish', 'Write it to ~/.config/fish/completions/call-webhooks.fish'],
      ),
    )
    .action(
      app.action(
        async (shell: string, kind: Kind | undefined, _options: object, command: Command) => {
          if (shell === 'ids') return printIds(app, kind);
          const toScript = SCRIPTS[shell as keyof typeof SCRIPTS];
          const script = toScript(completionsOf(command.parent ?? command));
          if (app.output.json) await app.output.print({ shell, script });
          else await app.output.write(script);
          return undefined;
        },
      ),
    );
}

/** Prints the ids that the running simulator knows. The scripts call this. */
async function printIds(app: App, kind: Kind | undefined): Promise<undefined> {
  if (kind === undefined) throw badInput('Ids of what?', `Pass one of: ${KINDS.join(', ')}.`);
  for (const { word, what } of await valuesOf(app, kind))
    if (app.output.json) await app.output.print({ id: word, what });
    else await app.output.write(`${escapeControl(word)}\t${escapeControl(what)}\n`);
  return undefined;
}

const plainWords = (names: readonly string[]): Word[] => names.map((word) => ({ word, what: '' }));

/** The arguments of commands that take a fixed set of words. */
const ARGUMENTS: Readonly<Record<string, readonly Word[]>> = {
  trigger: Object.entries(SCENARIOS).map(([word, { what }]) => ({ word, what })),
  send: plainWords(EVENT_NAMES),
  explain: plainWords(CODES),
  completion: plainWords(Object.keys(SCRIPTS)),
  'chaos set': plainWords(CHAOS_MODES.map((mode) => `${mode}=`)),
};

/** What may follow each command, the program itself included. */
function completionsOf(command: Command, path = ''): Completion[] {
  const shared =
    path === '' ? [] : optionsOf(rootOf(command), ['--json', '--color', '--no-color', '--wide']);
  const subcommands = command.commands.map((one) => ({
    word: one.name(),
    what: one.description(),
  }));
  const own: Completion = {
    path,
    words: [...subcommands, ...(ARGUMENTS[path] ?? [])],
    ids: ARGUMENT_KINDS[path] ?? [],
    options: [...optionsOf(command), ...shared, HELP],
  };
  const below = command.commands.flatMap((one) =>
    completionsOf(one, path === '' ? one.name() : `${path} ${one.name()}`),
  );
  return [own, ...below];
}

const rootOf = (command: Command): Command => (command.parent ? rootOf(command.parent) : command);

const HELP: OptionWord = { word: '--help', what: 'display help', takesValue: false };

const optionsOf = (command: Command, only?: readonly string[]): OptionWord[] =>
  command.options
    .map(({ long, description, argChoices, required, optional }) => {
      const values = argChoices ?? OPTION_VALUES[long ?? ''];
      return {
        word: long ?? '',
        what: description,
        takesValue: required || optional,
        ...(values !== undefined && {
          values: typeof values === 'string' ? values : plainWords(values),
        }),
      };
    })
    .filter(({ word }) => word !== '' && (only?.includes(word) ?? true));
