import type { Page } from 'playwright-core';
import type { PersonFound } from '../../src/api-types.ts';
import { ANSWERS, LETTERS, NOW } from './fixed-answers.ts';
import type { Answers } from './open-fixed.ts';

/** What somebody does with the page. */
export type Step = (page: Page) => Promise<void>;

/** The paths that start or stop a task. */
export const STARTING = ['redrive', 'remove', 'erase', 'reconcile'].flatMap((name) => [
  `api/${name}`,
  `api/${name}/stop`,
]);

/** What starts or stops a task is answered with the tasks. */
export const STARTED: Answers = Object.fromEntries(
  STARTING.map((path) => [path, ANSWERS['api/tasks']]),
);

/** A task that runs, if nothing else is said of it. */
export const running = (name: string, more: object = {}): Answers => ({
  'api/tasks': {
    ...ANSWERS['api/tasks'],
    [name]: {
      ...{ id: 't', by: null, state: 'running', startedAt: NOW, endedAt: null, savedAt: NOW },
      ...{ total: 9, countedAt: null, retries: 0, counts: {}, checked: 0, forgetKeys: false },
      ...{ dryRun: true, since: NOW - 9, until: NOW, events: [], reasons: [], ...more },
    },
  },
});

/** A dry run that found two missed events, and three that failed. */
export const dryRun = (): Answers => {
  const counts = { seen: 9, missed: 2, failed: 3, known: 0, handled: 0, inDeadLetters: 0 };
  const more = { state: 'done', counts: { ...counts, ignored: 0, skipped: 0 }, tenant: 'acme' };
  return running('reconcile', more);
};

/** What a search for a person finds. */
export const FOUND: PersonFound = {
  ...{ letters: LETTERS.slice(0, 1), searched: 32, searchedTo: NOW - 60_000, before: 'b-1' },
};

export const click =
  (name: string | RegExp, at = 0): Step =>
  (page) =>
    page
      .getByRole('button', { name, exact: typeof name === 'string' })
      .nth(at)
      .click();

/** Presses a button of a dialog. */
export const answer =
  (title: string, go: string): Step =>
  (page) =>
    page
      .getByRole('dialog', { name: title, exact: true })
      .getByRole('button', { name: go, exact: true })
      .click();

/** The same, and waits until the dialog is closed. */
export const confirm =
  (title: string, go: string): Step =>
  async (page) => {
    await answer(title, go)(page);
    await page.getByRole('dialog', { name: title, exact: true }).waitFor({ state: 'detached' });
  };

export const choose =
  (label: string, value: string): Step =>
  async (page) => {
    await page.getByLabel(label, { exact: true }).selectOption(value);
  };

export const fill =
  (label: string, text: string): Step =>
  (page) =>
    page.getByLabel(label, { exact: true }).fill(text);

export const open =
  (name: string | RegExp, at = 0): Step =>
  (page) =>
    page
      .getByRole('link', { name, exact: typeof name === 'string' })
      .nth(at)
      .click();

export const focused =
  (selector: string): Step =>
  (page) =>
    page.locator(`${selector}:focus`).waitFor();

export const press =
  (key: string): Step =>
  (page) =>
    page.keyboard.press(key);
