import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { importPackage } from './checkout.ts';
import { ContenderProcess, cpuMicros, type Answers } from './contender-process.ts';
import { SECRET } from './deliveries.ts';
import type { BenchOptions } from './options.ts';
import type { Result } from './report.ts';
import { runRounds, type Start } from './rounds.ts';

/** Some less than `bodyLimit`, for the other fields. */
const BYTES = 1_000_000;
const SENTENCE = 'The customer asked us to call back tomorrow, at half past nine. ';

/** Values until their JSON has 1 MB. */
function filled(value: (at: number) => unknown): unknown[] {
  const values: unknown[] = [];
  for (let length = 0; length < BYTES - 2_000;) {
    values.push(value(values.length));
    length += JSON.stringify(values.at(-1)).length + 1;
  }
  return values;
}

/** What a body of 1 MB is filled with. */
const BODIES: Record<string, () => unknown> = {
  text: () => SENTENCE.repeat(BYTES / SENTENCE.length),
  letter: () => 'x'.repeat(BYTES),
  keys: () =>
    Object.fromEntries(
      Array.from({ length: 9_000 }, (_, at) => [`field${String(at)}`, `${SENTENCE}${String(at)}`]),
    ),
  people: () =>
    Array.from({ length: 5_000 }, (_, at) => ({
      id: randomUUID(),
      name: `Ada ${at.toString(36)} Lovelace`,
      email: `ada.${String(at)}@example.com`,
      phone: `+1555${String(at).padStart(7, '0')}`,
      since: '2026-04-01T10:00:00.000Z',
    })),
  lines: () => filled((at) => `line ${String(at)} of the note`),
  sentences: () =>
    filled((at) => `The customer called ${String(at)} times and asked ${String(at)} times`),
  codes: () => filled(() => Buffer.from(randomUUID()).toString('base64')),
  'long lines': () =>
    filled((at) =>
      Array.from({ length: 200 }, (_, n) => `word${String(at)}x${String(n * 7_919)}`).join(' '),
    ),
  urls: () => filled((at) => `https://crm.example.com/contacts/${String(at)}?q=Ada%20Lovelace`),
  escapes: () => filled((at) => `"${String(at)}"\n\n"x"`),
  'numeric keys': () =>
    Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [String(at * 7_919), 'a'])),
  'names as keys': () =>
    Object.fromEntries(
      Array.from({ length: 45_000 }, (_, at) => [`Ada ${at.toString(36)} Lovelace`, 1]),
    ),
  nested: () =>
    filled((at) => {
      let value: unknown = String(at);
      for (let level = 0; level < 60; level++) value = level % 2 ? [value] : { a: value };
      return value;
    }),
  brackets: () => Array.from({ length: 300_000 }, () => []),
};

/** What a handler throws, by the body as a text. */
const ERRORS: Record<string, (body: string) => Error> = {
  'a plain error': () => new TypeError('fetch failed'),
  'twenty errors that quote it': (body) =>
    new AggregateError(
      Array.from({ length: 20 }, (_, at) => new Error(`error ${String(at)} of ${body}`)),
      'all failed',
    ),
};

/** Deliveries of 1 MB that fail, beside deliveries of the same body that succeed. */
export async function measure(options: BenchOptions): Promise<Result> {
  const deliveries = options.quick ? 1 : 10;
  const processes = new Map<string, Promise<ContenderProcess>>();
  const start =
    (body: string, error: string): Start =>
    async (root) => {
      const id = body + root;
      const started = processes.get(id) ?? ContenderProcess.start(import.meta.url, [body, root]);
      processes.set(id, started);
      const contender = await started;
      return {
        turn: async () => ({
          'CPU ms': await contender.ask<number>('deliver', [error, deliveries]),
        }),
        stop: () => contender.stop(),
      };
    };
  const contenders: Record<string, Start> = {};
  const compare: [string, string][] = [];
  for (const body of Object.keys(BODIES)) {
    contenders[`${body}: succeeds`] = start(body, '');
    for (const error of Object.keys(ERRORS)) {
      contenders[`${body}: ${error}`] = start(body, error);
      compare.push([`${body}: ${error}`, `${body}: succeeds`]);
    }
  }
  const rounds = await runRounds({ contenders, compare, isOurs: () => true, warmUps: 2 }, options);
  return { title: 'one delivery of 1 MB', rounds, compare };
}

export async function serve(name: string, root: string): Promise<Answers> {
  const { createReceiver, sign } = await importPackage(root, 'core');
  const content = (BODIES[name] as () => unknown)();
  let thrown: Error | undefined;
  let lines = 0;
  const log = () => {
    lines += 1;
  };
  const receiver = createReceiver({
    secret: SECRET,
    logger: { warn: log, error: log },
    on: {
      'call:completed': () => {
        if (thrown) throw thrown;
      },
    },
  });
  return {
    async deliver([error, deliveries]: [keyof typeof ERRORS, number]) {
      const requests = await Promise.all(
        Array.from({ length: deliveries }, async () => {
          const event = { eventName: 'call:completed', callId: randomUUID(), content };
          const body = Buffer.from(JSON.stringify(event));
          return { method: 'POST', headers: await sign({ secret: SECRET, body }), body };
        }),
      );
      let micros = 0;
      for (const request of requests) {
        thrown = ERRORS[error]?.(request.body.toString());
        const earlier = lines;
        const before = cpuMicros();
        const { status } = await receiver.receive(request);
        micros += cpuMicros() - before;
        if (status !== (thrown ? 500 : 200)) throw new Error(`Answered ${String(status)}.`);
        if (thrown && lines === earlier) throw new Error('A failure was not logged.');
      }
      return micros / deliveries / 1_000;
    },
  };
}
