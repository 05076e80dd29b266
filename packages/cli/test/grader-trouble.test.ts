import { once, getEventListeners } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Answer, exchange } from '../src/grader/exchange.ts';
import { refused } from '../src/grader/findings.ts';
import { grade, type Grade } from '../src/grader/grade.ts';
import { PROBES } from '../src/grader/probes.ts';
import { TestedReceiver, type TestedReceiverOptions } from '../src/grader/tested-receiver.ts';
import { faultyReceiver } from './support/faulty-receiver.ts';
import { closeRawServers, silentServer, rawServer } from './support/raw-server.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';
import { statusesOf } from '../src/grader/responses.ts';

const NEVER = new AbortController().signal;
const closing: (() => Promise<unknown>)[] = [];

afterEach(() => Promise.all([closeRawServers(), ...closing.splice(0).map((close) => close())]));

async function faulty(...faults: string[]) {
  const receiver = await faultyReceiver([SECRET], faults);
  closing.push(() => receiver.close());
  return receiver;
}

const optionsOf = (url: string): TestedReceiverOptions => ({
  url,
  secret: SECRET,
  runHandlers: true,
  timeoutMs: 60_000,
  retryForMs: 10_000,
  effectsWithinMs: 10_000,
  acknowledgeWithinMs: 60_000,
  signal: NEVER,
});

describe('a receiver that is not there, or silent', () => {
  test('one that accepts connections and never answers gets no points', async () => {
    const { href } = await silentServer();
    const argv = ['check', '--deep', '--to', href, '--timeout', '200ms'];
    const { code, stderr, stdout } = await run(argv);
    expect(code).toBe(3);
    // On a slow machine, connecting may take too long too.
    expect(stderr).toMatch(/never answered|Can't connect/);
    expect(stdout).not.toMatch(/^Score +100/m);
  });

  test('no response in time, and no connection, are no refusals', () => {
    const none: Answer = {
      ...{ status: undefined, statuses: [], failure: 'closed', connected: true },
      ...{ errorCode: undefined, date: undefined, ms: 1 },
    };
    expect(refused(none).result).toBe('pass');
    expect(refused({ ...none, failure: 'timeout' }).result).toBe('fail');
    expect(refused({ ...none, connected: false, errorCode: 'ECONNREFUSED' }).result).toBe('fail');
  });

  test('a connection that takes too long is an error', async () => {
    // The server never begins the TLS handshake, so that there is no connection in time.
    const { host } = await silentServer();
    const argv = ['check', '--deep', '--to', `https://${host}/hook`, '--timeout', '200ms'];
    const { code, stderr } = await run(argv);
    expect(code).toBe(3);
    expect(stderr).toContain("Can't connect");
  });

  test('a port that speaks no TLS is not called closed', async () => {
    const { url } = await faulty();
    const argv = ['check', '--deep', '--to', url.replace('http:', 'https:')];
    const { code, stderr } = await run(argv);
    expect(code).toBe(3);
    expect(stderr).toContain('TLS');
    expect(stderr).not.toContain('Nothing listens');
  });
});

describe('a receiver that needs many requests', () => {
  test('retries come at growing intervals', async () => {
    const { url } = await faulty('retry');
    class Hurried extends TestedReceiver {
      override pause = () => Promise.resolve();
    }
    const receiver = new Hurried(optionsOf(url));
    const event = receiver.event();
    await receiver.deliver(event);
    expect(await receiver.deliverUntilAcknowledged(event)).toMatchObject({ status: 409 });
    // All probes together retry about twenty events.
    expect(receiver.requests).toBeLessThanOrEqual(12);
  });

  test('beyond the limit, probes are skipped', async () => {
    const { url } = await faulty();
    const grades: Grade[] = [];
    const [probe] = PROBES.filter(({ id }) => id === 'get');
    const greedy = {
      ...probe!,
      id: 'greedy',
      async run(receiver: TestedReceiver) {
        for (;;) await Promise.all(Array.from({ length: 50 }, () => receiver.exchange(['cut'])));
      },
    };
    const add = (one: Grade) => Promise.resolve(void grades.push(one));
    const baseline = PROBES.filter(({ id }) => id === 'authentic');
    await grade([...baseline, greedy], optionsOf(url), add, NEVER);
    expect(grades.at(-1)).toMatchObject({ result: 'skipped' });
    expect(grades.at(-1)!.saw).toContain('400');
  });
});

describe('an error after some probes', () => {
  test('the URL of the effects is tried first', async () => {
    const { url } = await faulty();
    const argv = ['check', '--deep', '--to', url, '--effects', url, '--json'];
    const { code, stdout } = await run(argv, { env: { CALL_WEBHOOK_SECRET: SECRET } });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  });

  test('what runs in the background ends', async () => {
    const { url } = await faulty();
    let stopped: AbortSignal | undefined;
    const [baseline, deadline] = ['authentic', 'deadline'].map((id) =>
      PROBES.find((one) => one.id === id),
    );
    const slow = {
      ...deadline!,
      needs: [],
      run({ options: { signal } }: TestedReceiver) {
        stopped = signal;
        return once(signal, 'abort').then(() => Promise.reject(new Error('stopped')));
      },
    };
    const broken = { ...baseline!, id: 'broken', run: () => Promise.reject(new Error('broken')) };
    const add = () => Promise.resolve();
    await expect(grade([baseline!, slow, broken], optionsOf(url), add, NEVER)).rejects.toThrow(
      'broken',
    );
    expect(stopped?.aborted).toBe(true);
  });

  test('a receiver that crashes ends it, and the report names the probe', async () => {
    const { url, close } = await faulty();
    const baseline = PROBES.find(({ id }) => id === 'authentic')!;
    const fatal = {
      ...baseline,
      id: 'fatal',
      run: async (receiver: TestedReceiver) => {
        await close();
        return refused(await receiver.deliver(receiver.event()));
      },
    };
    const grades: Grade[] = [];
    const add = (one: Grade) => Promise.resolve(void grades.push(one));
    const options = { ...optionsOf(url), retryForMs: 0 };
    await expect(
      grade([baseline, fatal, { ...baseline, id: 'after' }], options, add, NEVER),
    ).rejects.toThrow(/^Nothing listens at .* The receiver was gone after the probe fatal\.$/);
    expect(grades.map(({ probe, result }) => [probe.id, result])).toEqual([
      ['authentic', 'pass'],
      ['fatal', 'fail'],
    ]);
  });

  test('what was judged is reported', async () => {
    let asked = 0;
    const { url } = await faulty();
    // It reports effects at first.
    const flaky = await rawServer((socket) => {
      socket.once('data', () => {
        if (++asked > 1) socket.destroy();
        else socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]`);
      });
    });
    const argv = ['check', '--deep', '--to', url, '--effects', flaky.href];
    const { code, stdout } = await run([...argv, '--only', 'forged,duplicate'], {
      env: { CALL_WEBHOOK_SECRET: SECRET },
    });
    expect(code).toBe(3);
    expect(stdout).toMatch(/ok +forged/);
    expect(stdout).toMatch(/skipped +duplicate +did not run/);
  });
});

describe('exchange', () => {
  test('what the receiver does not read ends with the timeout', async () => {
    const url = await rawServer(() => undefined, true);
    const bytes = Buffer.alloc(64_000_000);
    const answer = await exchange(url, [bytes], { timeoutMs: 200, signal: NEVER });
    expect(answer).toMatchObject({ status: undefined, failure: 'timeout' });
  });

  test('an abort during a wait leaves nothing behind', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const url = await rawServer((socket) =>
      socket.on('data', () => controller.abort(new Error('stop'))),
    );
    const waiting = exchange(url, [new Uint8Array(1), { wait: 60_000 }], {
      timeoutMs: 60_000,
      signal,
    });
    await expect(waiting).rejects.toThrow('stop');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('two responses on one connection', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\n';
  const SECOND = 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n';

  test.each([
    ['a text without an end of line', `${HEAD}Content-Length: 2\r\n\r\nOK`],
    ['no body', 'HTTP/1.1 204 None\r\n\r\n'],
    ['chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n2;x\r\nOK\r\n0\r\nA: b\r\n\r\n`],
    ['100 before', `HTTP/1.1 100 Continue\r\n\r\n${HEAD}Content-Length: 1\r\n\r\n\n`],
  ])('%s', (_, first) => {
    expect(statusesOf(first)).toHaveLength(1);
    expect(statusesOf(first + SECOND).at(-1)).toBe(500);
    expect(statusesOf(first + SECOND)).toHaveLength(2);
  });

  test('what looks like a response in a body is none', () => {
    expect(statusesOf(`${HEAD}Content-Length: 50\r\n\r\n\n${SECOND}`)).toEqual([200]);
    expect(statusesOf(`${HEAD}\r\n\n${SECOND}`)).toEqual([200]);
  });

  /** What the probe finds at a server that responds once, and leaves the connection open. */
  async function resultAfter(head: string, timeoutMs: number): Promise<string> {
    const url = await rawServer((socket) => {
      socket.once('data', () => {
        socket.write(`${head}\r\nContent-Length: 2\r\n\r\nOK`);
        socket.resume();
      });
    });
    const receiver = new TestedReceiver({
      ...{ url: url.href, secret: SECRET, runHandlers: true, signal: NEVER },
      ...{ timeoutMs, retryForMs: 0, effectsWithinMs: 0, acknowledgeWithinMs: 0 },
    });
    return (await PROBES.find(({ id }) => id === 'keep-alive')!.run(receiver)).result;
  }

  test.each(['HTTP/1.1 200 OK', 'HTTP/1.0 200 OK\r\nConnection: keep-alive'])(
    '%j: silence after the first one is a failure',
    async (head) => {
      expect(await resultAfter(head, 300)).toBe('fail');
    },
  );

  test.each(['HTTP/1.1 200 OK\r\nConnection: close', 'HTTP/1.0 200 OK'])(
    '%j: a server that says it closes the connection gets no second one',
    async (head) => {
      expect(await resultAfter(head, 60_000)).toBe('pass');
    },
  );
});
