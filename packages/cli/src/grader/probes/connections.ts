import { gzipSync } from 'node:zlib';
import { accepted, found, refused, worst } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { requestBytes } from '../request-bytes.ts';
import { SPEC } from '../spec.ts';

const needs = ['secret'] as const;
const LIVE = 'A broken request must not stop the receiver. Handle errors of connections.';

/** How requests arrive: in pieces, cut off, compressed. */
export const connections: readonly Probe[] = [
  {
    id: 'slow-body',
    group: 'http',
    title: 'A body that arrives in pieces',
    spec: SPEC.post,
    fix: 'Read until the end of the body: one read may return only a part of it.',
    weight: 4,
    needs,
    async run(receiver) {
      const { body } = receiver.event();
      const bytes = requestBytes(receiver.url, receiver.sign(body));
      const at = bytes.length - body.length;
      const steps = [0, 7, 40, 60, 80].map((from, part, all) => {
        const to = all[part + 1];
        return bytes.subarray(part === 0 ? 0 : at + from, to === undefined ? undefined : at + to);
      });
      const [first = bytes, ...rest] = steps;
      return accepted(
        await receiver.exchange([first, ...rest.flatMap((step) => [{ wait: 100 }, step])]),
      );
    },
  },
  {
    id: 'keep-alive',
    group: 'http',
    title: 'Two deliveries on one connection',
    spec: SPEC.post,
    fix: 'Read each request to its end, or close the connection after the response.',
    weight: 2,
    needs,
    async run(receiver) {
      const [one, two] = [0, 1].map(() => {
        const delivery = receiver.sign(receiver.event().body);
        return requestBytes(receiver.url, delivery, { keepAlive: true });
      }) as [Buffer, Buffer];
      const steps = [one, 'response', two] as const;
      const { statuses, ...rest } = await receiver.exchange(steps, { responses: 2 });
      const findings = statuses.map((status) => accepted({ ...rest, statuses, status }));
      if (rest.failure === 'timeout') findings.push(found.fail('no response to the second'));
      const [first = found.fail('no response'), ...more] = findings;
      // A server may close the connection after a response.
      return worst(first, ...more);
    },
  },
  {
    id: 'cut-body',
    group: 'http',
    title: 'A body that is cut off, then the whole delivery',
    spec: SPEC.retried,
    fix: LIVE,
    weight: 3,
    needs,
    async run(receiver) {
      const delivery = receiver.sign(receiver.event().body);
      const bytes = requestBytes(receiver.url, delivery);
      await receiver.exchange([bytes.subarray(0, -9), { wait: 20 }, 'cut']);
      return accepted(await receiver.send(delivery));
    },
  },
  {
    id: 'short-body',
    group: 'http',
    title: 'Content-Length is more than the body',
    spec: SPEC.rawBody,
    fix: 'Refuse a body that is not complete.',
    weight: 2,
    needs,
    provesRefusal: true,
    async run(receiver) {
      const { body } = receiver.refusedEvent();
      const framing = [`Content-Length: ${String(body.length + 9)}`];
      const bytes = requestBytes(receiver.url, receiver.sign(body), { framing });
      // Without an end, a receiver may wait for the rest.
      const answer = await receiver.exchange([bytes, 'end'], { timeoutMs: 5_000 });
      const waits = answer.connected && answer.failure === 'timeout';
      return waits ? found.pass('waits for the rest') : refused(answer);
    },
  },
  {
    id: 'long-body',
    group: 'http',
    title: 'Content-Length is less than the body',
    spec: SPEC.rawBody,
    fix: 'Verify the signature over what the request has as its body.',
    weight: 2,
    needs,
    provesRefusal: true,
    async run(receiver) {
      const { body } = receiver.refusedEvent();
      const framing = [`Content-Length: ${String(body.length - 9)}`];
      return refused(await receiver.send(receiver.sign(body), { framing }));
    },
  },
  {
    id: 'compressed',
    group: 'http',
    title: 'A compressed body, signed as what it decompresses to',
    spec: SPEC.rawBody,
    fix: 'Turn off decompression: the signature is over the bytes as received.',
    weight: 1,
    needs,
    provesRefusal: true,
    async run(receiver) {
      const { body } = receiver.refusedEvent();
      const more = ['Content-Encoding: gzip'];
      return refused(await receiver.send(receiver.sign(body), { body: gzipSync(body), more }));
    },
  },
  {
    id: 'not-compressed',
    group: 'http',
    title: 'A body that claims to be compressed, and is not',
    spec: SPEC.notFound,
    fix: LIVE,
    weight: 1,
    needs,
    async run(receiver) {
      const first = await receiver.deliver(receiver.event(), {
        more: ['Content-Encoding: gzip'],
      });
      if (first.status === 404) return found.fail('404');
      return accepted(await receiver.deliver(receiver.event()));
    },
  },
  {
    id: 'garbage',
    group: 'http',
    title: 'Bytes that are no HTTP, then a delivery',
    spec: SPEC.retried,
    fix: LIVE,
    weight: 2,
    needs,
    async run(receiver) {
      const bytes = Buffer.from('\u0016\u0003\u0001 no http\r\n\r\n');
      await receiver.exchange([bytes, 'end'], { timeoutMs: 2_000, elsewhere: true });
      return accepted(await receiver.deliver(receiver.event()));
    },
  },
];
