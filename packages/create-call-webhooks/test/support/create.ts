import { PassThrough, Writable } from 'node:stream';
import { main } from '../../src/main.ts';

/** What the program is given, and what it did. */
export interface Created {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Given {
  readonly cwd: string;
  readonly templates: string;
  readonly env?: Record<string, string>;
  /** Makes input and output a terminal. Each answer is typed as soon as its question is shown. */
  readonly answers?: readonly (readonly [question: RegExp, keys: string])[];
}

/** Runs the program in this process. */
export async function create(
  args: readonly string[],
  { cwd, templates, env = {}, answers }: Given,
): Promise<Created> {
  const terminal = answers !== undefined;
  const stdin = Object.assign(new PassThrough(), { isTTY: terminal, setRawMode: () => stdin });
  const texts = { stdout: '', stderr: '' };
  const left = [...(answers ?? [])];
  const sink = (name: keyof typeof texts) =>
    Object.assign(
      new Writable({
        write(piece: Buffer, _encoding, done) {
          texts[name] += piece.toString();
          const [next] = left;
          if (next?.[0].test(texts[name]) === true) {
            left.shift();
            // The prompt listens for keys once it is shown.
            setImmediate(() => stdin.write(next[1]));
          }
          done();
        },
      }),
      { isTTY: terminal, columns: 80, rows: 40 },
    );
  const io = {
    stdin,
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    env,
    cwd,
    signal: new AbortController().signal,
  };
  const code = await main(args, io, templates);
  if (left.length > 0) throw new Error(`Nothing asked ${String(left[0]?.[0])}: ${texts.stdout}`);
  return { code, ...texts };
}
