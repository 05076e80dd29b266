import { PassThrough, Readable, Writable } from 'node:stream';
import { EXIT, Stopped } from '../../src/errors.ts';
import { App } from '../../src/app.ts';
import { main } from '../../src/main.ts';
import { program } from '../../src/program.ts';

// Everything is loaded before the first command runs: jest can't link a module twice at once, and commands
// run side by side in tests.
await import('../../src/library-error.ts');
await program(new App({ stdout: {}, stderr: {}, env: {} } as never));

/** A simulator that runs on this machine is not found, unless a test asks for it. */
const NO_SIMULATOR = { CALL_WEBHOOKS_SIMULATOR: 'http://127.0.0.1:1' };

/** What a run may be given. */
export interface Given {
  readonly env?: Record<string, string>;
  readonly stdin?: string | Uint8Array;
  /** Standard input is a pipe into which nobody writes, and that nobody closes. */
  readonly silent?: boolean;
  /** Makes both outputs, or one of them, look like a terminal. */
  readonly terminal?: boolean | 'stdout' | 'stderr';
  /** What a person types at the terminal. */
  readonly typed?: string;
  /** The width of both; 100 by default. */
  readonly columns?: number;
}

/** A program that runs in this process. */
export interface Run {
  readonly code: Promise<number>;
  stdout(): string;
  stderr(): string;
  /** Resolves when standard input is read. */
  readonly reading: Promise<void>;
  /** Resolves when stdout, or stderr, has this text. Rejects when the program ends before. */
  until(text: string | RegExp): Promise<void>;
  /** As Ctrl-C would; but the second time, the program goes on after it has heard of it. */
  stop(): void;
}

export function start(
  argv: readonly string[],
  { env, stdin, silent = false, terminal = false, typed, columns = 100 }: Given = {},
): Run {
  const controller = new AbortController();
  const killing = new AbortController();
  const written = new PassThrough();
  const texts = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof texts) =>
    Object.assign(
      new Writable({
        write(piece: Buffer, _encoding, done) {
          texts[name] += piece.toString('utf8');
          written.emit('more');
          done();
        },
      }),
      { isTTY: terminal === true || terminal === name, columns },
    );
  const given = typed ?? stdin;
  let onRead = (): void => undefined;
  const reading = new Promise<void>((resolve) => (onRead = resolve));
  const source = silent
    ? new Readable({ read: () => onRead() })
    : Readable.from(given === undefined ? [] : [Buffer.from(given)]);
  const input = Object.assign(source, {
    isTTY: stdin === undefined && !silent,
    setRawMode: () => input,
  });
  let over = false;
  const code = main(argv, {
    stdin: input,
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env: { ...NO_SIMULATOR, ...env },
    signal: controller.signal,
    killed: killing.signal,
  }).finally(() => {
    over = true;
    written.emit('more');
  });
  return {
    code,
    reading,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    stop: () => {
      if (controller.signal.aborted) killing.abort();
      else controller.abort(new Stopped(EXIT.interrupted));
    },
    until: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const all = texts.stdout + texts.stderr;
          if (typeof wanted === 'string' ? all.includes(wanted) : wanted.test(all)) resolve();
          else if (over) reject(new Error(`The program ended without ${String(wanted)}:\n${all}`));
          else return;
          written.off('more', look);
        };
        written.on('more', look);
        look();
      }),
  };
}

/** Runs a command line to its end. */
export async function run(argv: readonly string[], given?: Given) {
  const running = start(argv, given);
  const code = await running.code;
  return {
    code,
    stdout: running.stdout(),
    stderr: running.stderr(),
    /** What stdout holds, one record a line. */
    records: () =>
      running
        .stdout()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}
