import { once } from 'node:events';
import type { Io, Sink } from '../io.ts';
import { jsonLine } from './control-characters.ts';
import { inkOf, wantsColour, type Ink } from './ink.ts';
import { t, type Shown, type Text } from './text.ts';

/** The flags that every command has. */
export interface OutputFlags {
  readonly json?: boolean | undefined;
  readonly color?: boolean | undefined;
}

/** What the program says: data to stdout, talk to stderr. */
export class Output {
  readonly json: boolean;
  /** Inks for data. */
  readonly ink: Ink;
  /** Inks for talk. */
  readonly talk: Ink;
  readonly #io: Io;

  constructor(io: Io, { json = false, color }: OutputFlags) {
    this.json = json;
    this.ink = inkOf(wantsColour(color, io.env, io.stdout));
    this.talk = inkOf(wantsColour(color, io.env, io.stderr));
    this.#io = io;
  }

  /** One record: a line of JSON with `--json`, and else the lines that people read. */
  async show(record: unknown, human: (ink: Ink) => Text | readonly Text[]): Promise<void> {
    if (this.json) return this.raw(`${jsonLine(record)}\n`);
    const made = human(this.ink);
    for (const line of Array.isArray(made) ? (made as Text[]) : [made as Text])
      await this.raw(`${line.shown}\n`);
  }

  /** Data as it is: a file's bytes, a script. Resolves when there is room for more. */
  raw(data: string | Uint8Array): Promise<void> {
    return write(this.#io.stdout, data, this.#io.signal);
  }

  /** Talk. */
  say(line: Shown = ''): void {
    this.#io.stderr.write(`${t`${line}`.shown}\n`);
  }

  warn(line: Shown): void {
    this.say(t`${this.talk.yellow('warning:')} ${line}`);
  }
}

/** Writes and honours back-pressure; a stream that is gone, or an end that is asked for, ends the wait. */
async function write(stream: Sink, data: string | Uint8Array, signal: AbortSignal): Promise<void> {
  if (stream.destroyed || stream.write(data)) return;
  const ended = new AbortController();
  const end = AbortSignal.any([signal, ended.signal]);
  await Promise.race([
    once(stream, 'drain', { signal: end }),
    once(stream, 'close', { signal: end }),
  ]).catch(() => undefined);
  ended.abort();
}
