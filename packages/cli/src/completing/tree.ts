import type { Command } from 'commander';
import { SCENARIOS } from '../triggering/scenarios.ts';
import { CODES } from '../explaining/codes.ts';
import { EVENT_NAMES } from '@call-webhooks/core';

/** A word that may come next, and what it does. */
export interface Word {
  readonly word: string;
  readonly what: string;
}

/** What may follow a command; its path is empty for the program itself. */
export interface Completion {
  readonly path: string;
  readonly words: readonly Word[];
  readonly options: readonly Word[];
}

const plain = (names: readonly string[]): Word[] => names.map((word) => ({ word, what: '' }));

/** Words that are no commands, by command. */
const ARGUMENTS: Readonly<Record<string, readonly Word[]>> = {
  trigger: Object.entries(SCENARIOS).map(([word, { what }]) => ({ word, what })),
  send: plain(EVENT_NAMES),
  explain: plain(Object.keys(CODES)),
  completion: plain(['bash', 'zsh', 'fish']),
};

/** Every command with what may follow it. */
export function completions(root: Command, path = ''): Completion[] {
  const shared = path === '' ? [] : optionsOf(topOf(root), ['--json', '--color', '--no-color']);
  const commands = root.commands.map((one) => ({ word: one.name(), what: one.description() }));
  const own: Completion = {
    path,
    words: [...commands, ...(ARGUMENTS[path] ?? [])],
    options: [...optionsOf(root), ...shared, { word: '--help', what: 'display help' }],
  };
  const below = root.commands.flatMap((one) =>
    completions(one, path === '' ? one.name() : `${path} ${one.name()}`),
  );
  return [own, ...below];
}

const topOf = (command: Command): Command => (command.parent ? topOf(command.parent) : command);

const optionsOf = (command: Command, only?: readonly string[]): Word[] =>
  command.options
    .map(({ long, description }) => ({ word: long ?? '', what: description }))
    .filter(({ word }) => word !== '' && (only?.includes(word) ?? true));
