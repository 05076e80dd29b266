import { describe, expect, it } from '@jest/globals';
import { createReceiver, sign, verify } from '@call-webhooks/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createVector, createVectors, VECTORS_VERSION } from '../src/index.ts';
import { SENTENCES } from '../src/sentences.ts';
import { failure } from './failures.ts';
import { bytesOf, deliveries, files, headersOf, readJson, vectors } from './read-vectors.ts';
import { simpleReceiver } from './simple-receiver.ts';

describe('vectors', () => {
  const validate = new Ajv2020({ strict: true }).compile(readJson('vectors.schema.json') as object);

  describe('the files of vectors', () => {
    it.each(files)('$name matches the schema', ({ name, file }) => {
      validate(file);
      expect(validate.errors).toBeNull();
      expect(`${file.name}.json`).toBe(name);
      expect(file.version).toBe(VECTORS_VERSION);
      for (const { id } of file.vectors) expect(id.split('/')[0]).toBe(file.name);
    });

    it.each([
      ['another version', '"version":1', '"version":2'],
      ['an unknown result', '"result":"accept"', '"result":"maybe"'],
      ['a secret that is none', '"whsec_', '"secret_'],
      ['an unknown field', '"license"', '"licence"'],
      ['a clock with a fraction', '"now":1800000000000', '"now":1.5'],
    ])('the schema refuses %s', (_what, text, other) => {
      const json = JSON.stringify(files[0]?.file);
      expect(json).toContain(text);
      expect(validate(JSON.parse(json.replace(text, other)))).toBe(false);
    });

    it('are up to date', () => {
      const made = createVectors({ now: 1_800_000_000_000, seed: 'call-webhooks' });
      const published = Object.fromEntries(files.map(({ file }) => [file.name, file.vectors]));
      expect(Object.fromEntries(made.map(({ name, vectors: made }) => [name, made]))).toEqual(
        published,
      );
    });
  });

  describe('the vectors', () => {
    it('have ids and webhook ids of their own', () => {
      expect(new Set(vectors.map(({ id }) => id)).size).toBe(vectors.length);
      const ids = vectors.flatMap((vector) => [
        ...new Set(vector.deliveries.map((one) => headersOf(one)['x-service-webhook-id'])),
      ]);
      const sent = ids.filter((id) => id !== undefined && id !== '');
      expect(new Set(sent).size).toBe(sent.length);
    });

    it('test each sentence, and most of them with what is wrong', () => {
      const used = new Set(vectors.flatMap(({ why }) => why.map(({ text }) => text)));
      expect([...used].sort()).toEqual(
        Object.values(SENTENCES)
          .map(({ text }) => text)
          .sort(),
      );
      const results = deliveries.map(({ delivery }) => delivery.expect.result);
      for (const result of ['accept', 'reject', 'duplicate', 'replay'] as const)
        expect(results.filter((one) => one === result).length).toBeGreaterThan(4);
    });

    it('never allow 404, 410 or a redirect', () => {
      for (const { delivery } of deliveries)
        for (const [from, to] of delivery.expect.statuses)
          for (const status of [300, 302, 308, 399, 404, 410])
            expect(from <= status && status <= to).toBe(false);
    });

    it('have the text of each body that is UTF-8', () => {
      for (const { delivery } of deliveries) {
        const { text } = delivery.body;
        const bytes = bytesOf(delivery);
        if (text !== undefined) expect(Buffer.from(text).equals(bytes)).toBe(true);
        else expect(Buffer.from(bytes.toString()).equals(bytes)).toBe(false);
      }
      expect(deliveries.some(({ delivery }) => delivery.body.text === undefined)).toBe(true);
    });

    it('are signed as core signs', async () => {
      for (const { vector, delivery } of deliveries) {
        if (delivery.expect.result === 'reject') continue;
        const headers = headersOf(delivery);
        const signatures = vector.secrets.map((secret) => {
          const signed = sign({
            secret,
            body: bytesOf(delivery),
            webhookId: headers['x-service-webhook-id'],
            timestamp: Number(headers['x-service-timestamp']),
          });
          return signed.then((named) => named['X-Service-Signature']);
        });
        expect(await Promise.all(signatures)).toContain(headers['x-service-signature']);
      }
    });
  });

  it('no vector asks for an answer that the interface does not show', () => {
    const bodies = deliveries
      .filter(({ delivery }) => delivery.expect.result !== 'reject')
      .map(({ vector, delivery }) => ({
        id: vector.id,
        event: JSON.parse(bytesOf(delivery).toString()) as object,
      }));
    // How a receiver answers a custom payload, or an event without its call, is not shown.
    for (const body of bodies)
      expect(body).toEqual({
        id: body.id,
        event: expect.objectContaining({
          eventName: expect.stringMatching(/^call:(started|completed|recording-available)$/),
          callId: expect.any(String),
        }),
      });
    // Nor are the fields inside fromPhoneNumber.
    for (const { event } of bodies) expect(event).not.toHaveProperty('fromPhoneNumber');
  });

  describe('createVectors', () => {
    const now = 1_900_000_000_000;

    it.each([-59, -1, 0, 1, 2, 59])(
      'is right for a clock that is %i s off, without the vectors that need an exact one',
      (seconds) => {
        const all = createVectors({ now, seed: 's' }).flatMap((file) => file.vectors);
        const wrong = all
          .filter(({ exactClock }) => exactClock !== true)
          .flatMap((vector) => {
            const receive = simpleReceiver(vector.secrets);
            return vector.deliveries
              .filter((delivery) => delivery.now === now)
              .map((delivery, at) => {
                const request = { headers: headersOf(delivery), body: bytesOf(delivery) };
                const observed = receive({ ...request, now: now + seconds * 1000 });
                return failure(vector, delivery, at, observed);
              });
          });
        expect(wrong.filter((one) => one !== undefined)).toEqual([]);
        expect(wrong.length).toBeGreaterThan(100);
      },
    );

    it('makes them for another clock and secret, with other ids for another seed', () => {
      const secret = `whsec_${Buffer.alloc(24, 'k').toString('base64')}`;
      const made = ['one', 'two'].map((seed) => createVectors({ now, seed, secret }));
      const ids = made.map((all) => new Set(all.flatMap((file) => file.vectors).map(firstId)));
      expect([...ids[0]!].filter((id) => id !== undefined && id !== '' && ids[1]!.has(id))).toEqual(
        [],
      );
      const own = made[0]!
        .flatMap((file) => file.vectors)
        .filter((one) => one.secrets[0] === secret);
      expect(own.length).toBeGreaterThan(80);
      for (const { deliveries: sent } of own) expect(sent[0]?.now).toBe(now);
    });

    it('makes them for a receiver that runs: attempts at once, and events of your own', () => {
      const changes = { retryAfter: 0, callIdPrefix: 'check.', callFields: { owner: 'ada' } };
      const live = createVectors({ now, seed: 's', ...changes, eventName: 'my:event' });
      const all = live.flatMap((file) => file.vectors);
      const later = all.filter(({ deliveries: sent }) =>
        sent.some((one) => one.now > now + 59_000),
      );
      expect(later.map(({ id }) => id)).toEqual([
        'replays/after-299-seconds',
        'replays/signed-ahead',
      ]);
      for (const { deliveries: sent } of all)
        for (const { body, expect: right } of sent) {
          if (right.result === 'reject') continue;
          const event = JSON.parse(body.text ?? '') as Record<string, string>;
          expect(event['callId']).toMatch(/^check\./);
          expect(event['eventName']).not.toBe('call:completed');
          if (event['eventName'] !== 'call:recording-available') expect(event['owner']).toBe('ada');
        }
    });

    it('are made one at a time as well, each as it is among all of them', () => {
      const options = { now, seed: 's', retryAfter: 0, callIdPrefix: 'check.' };
      const all = createVectors(options).flatMap((file) => file.vectors);
      expect(all.map(({ id }) => createVector(id, options))).toEqual(all);
      expect(() => createVector('clock/unknown', options)).toThrow('clock/unknown');
    });

    it('throws for a clock between two seconds', () => {
      expect(() => createVectors({ now: now + 1, seed: 's' })).toThrow('whole second');
    });
  });

  const firstId = ({ deliveries: [first] }: (typeof vectors)[number]) =>
    first && headersOf(first)['x-service-webhook-id'];
});

describe('our receiver', () => {
  describe('our receiver', () => {
    it.each(vectors)('$id', async (vector) => {
      let now = 0;
      let effects = 0;
      const count = () => void (effects += 1);
      const receiver = createReceiver({
        secret: vector.secrets,
        now: () => now,
        logger: { warn: () => undefined, error: () => undefined },
        on: {
          'call:started': count,
          'call:completed': count,
          'call:recording-available': count,
        },
      });
      for (const [at, delivery] of vector.deliveries.entries()) {
        ({ now } = delivery);
        effects = 0;
        const { status } = await receiver.receive({
          method: delivery.method,
          headers: Object.fromEntries(delivery.headers),
          body: bytesOf(delivery),
        });
        expect(failure(vector, delivery, at, { status, effects })).toBeUndefined();
      }
    });
  });

  it('verify agrees', async () => {
    for (const { vector, delivery } of deliveries) {
      const verified = await verify(
        { headers: headersOf(delivery), body: bytesOf(delivery) },
        { secret: vector.secrets, now: () => delivery.now },
      ).then(
        () => true,
        () => false,
      );
      expect({ id: vector.id, verified }).toEqual({
        id: vector.id,
        verified: delivery.expect.result !== 'reject',
      });
    }
  });
});
