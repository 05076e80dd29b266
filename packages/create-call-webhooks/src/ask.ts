import {
  FRAMEWORKS,
  LABELS,
  LANGUAGES,
  packageManagerOf,
  STORE_HINTS,
  STORES,
  type Choices,
  type Language,
} from './choices.ts';
import { basename, resolve } from 'node:path';
import type { Flags } from './flags.ts';
import { CreateError, EXIT, isInteractive, type Io } from './io.ts';
import { isEmpty, nameOf, problemOfName } from './target-folder.ts';

/** What to do. */
export interface Plan {
  /** As an absolute path. */
  readonly folder: string;
  readonly choices: Choices;
  readonly install: boolean;
}

const DEFAULT_FOLDER = 'call-webhooks-app';

/**
 * Completes the flags: with the defaults after `--yes`, or else with questions.
 * @throws CreateError 2, or 130 if a question is cancelled
 */
export async function complete(flags: Flags, io: Io): Promise<Plan> {
  const asks = flags.yes !== true && isInteractive(io);
  if (flags.yes !== true && !asks) requireFlags(flags);
  const questions = asks ? await questionsOn(io) : undefined;

  const given = flags.folder ?? (await questions?.folder()) ?? DEFAULT_FOLDER;
  const folder = resolve(io.cwd, given);
  if (!isEmpty(folder) && flags.overwrite !== true && !(await questions?.overwrite(given)))
    throw new CreateError(
      EXIT.badInput,
      `${given} is not empty. Choose another folder, or pass --overwrite to write over files of the same names.`,
    );
  const name = await validName(flags.name, folder, questions?.name);
  const framework = flags.framework ?? (await questions?.framework()) ?? FRAMEWORKS[0];
  const store = flags.store ?? (await questions?.store()) ?? STORES[0];
  const language = languageOf(flags) ?? (await questions?.language()) ?? LANGUAGES[0];
  const packageManager = flags.packageManager ?? packageManagerOf(io.env['npm_config_user_agent']);
  const install = flags.install ?? (await questions?.install(packageManager)) ?? true;
  return { folder, choices: { name, framework, store, language, packageManager }, install };
}

const languageOf = ({ ts, js }: Flags): Language | undefined =>
  ts === true ? 'typescript' : js === true ? 'javascript' : undefined;

function requireFlags(flags: Flags): void {
  const missing = [
    ...(flags.folder === undefined ? ['a folder'] : []),
    ...(flags.framework === undefined ? [`--framework <${FRAMEWORKS.join('|')}>`] : []),
    ...(flags.store === undefined ? [`--store <${STORES.join('|')}>`] : []),
    ...(languageOf(flags) === undefined ? ['--ts or --js'] : []),
  ];
  if (missing.length > 0)
    throw new CreateError(
      EXIT.badInput,
      `There is no terminal to ask on. Pass ${missing.join(', ')}; or --yes for the defaults.`,
    );
}

async function validName(
  flag: string | undefined,
  folder: string,
  ask: ((suggestion: string) => Promise<string>) | undefined,
): Promise<string> {
  const name = flag ?? basename(folder);
  const problem = problemOfName(name);
  if (problem === undefined) return name;
  if (flag === undefined && ask) return ask(nameOf(folder));
  throw new CreateError(
    EXIT.badInput,
    `npm would refuse the package name "${name}": ${problem}. Pass another one: --name <name>`,
  );
}

/** The questions, on a terminal. Their library is loaded only for them. */
async function questionsOn({ stdin, stdout, signal }: Io) {
  const { confirm, isCancel, select, text } = await import('@clack/prompts');
  const streams = { input: stdin, output: stdout, signal };
  const answered = async <T>(answer: Promise<T>): Promise<Exclude<T, symbol>> => {
    const value = await answer;
    if (isCancel(value)) throw new CreateError(EXIT.interrupted, 'Cancelled. Nothing was created.');
    return value as Exclude<T, symbol>;
  };
  const choose = async <T extends keyof typeof LABELS>(
    message: string,
    values: readonly T[],
    hints: Readonly<Partial<Record<string, string>>> = {},
  ): Promise<T> => {
    const options = values.map((value): { value: string; label: string; hint?: string } => {
      const hint = hints[value];
      return { value, label: LABELS[value], ...(hint !== undefined && { hint }) };
    });
    return (await answered(select({ message, options, ...streams }))) as T;
  };
  return {
    folder: () =>
      answered(
        text({
          message: 'In which folder?',
          placeholder: DEFAULT_FOLDER,
          defaultValue: DEFAULT_FOLDER,
          ...streams,
        }),
      ),
    overwrite: (folder: string) =>
      answered(
        confirm({
          message: `${folder} is not empty. Write over files of the same names?`,
          initialValue: false,
          ...streams,
        }),
      ),
    name: (suggestion: string) =>
      answered(
        text({
          message: 'What is the name of the package?',
          initialValue: suggestion,
          validate: (value) => problemOfName(value ?? ''),
          ...streams,
        }),
      ),
    framework: () => choose('Which framework?', FRAMEWORKS),
    store: () => choose('Which store? It remembers which events are done.', STORES, STORE_HINTS),
    language: () => choose('TypeScript or JavaScript?', LANGUAGES),
    install: (packageManager: string) =>
      answered(
        confirm({ message: `Install the dependencies with ${packageManager}?`, ...streams }),
      ),
  };
}
