import { METHODS } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateSecret } from '@call-webhooks/core';
import { callBody, startSender } from '@call-webhooks/contract-tests';
import { receives } from '../../../../docs/test/receives.ts';
import { runtimeContractTests } from '../runtimes/black-box.ts';
import type { Served } from '../runtimes/process.ts';
import { buildHost, SAMPLE, serveHost, type Host } from './host.ts';

/** What a host itself does with some requests, as docs/frameworks.md says. */
export interface HostRules {
  /** The status of a form that another origin posts; 401 by default, as it has no signature. */
  readonly crossSite?: number;
  /** The status of a delivery without a content type; 200 by default. */
  readonly untyped?: number;
  /** Whether it reads the whole body before the route does, and needs its length. */
  readonly buffers?: true;
  /** The methods that it knows; by default all of Node. */
  readonly methods?: readonly string[];
}

/** Builds the app of a host, and checks it over HTTP. */
export function hostContractTests(host: Host, rules: HostRules = {}): void {
  describe(host.name, () => {
    let folder: string;
    let built: Promise<void> | undefined;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'call-webhooks-host-'));
      built = buildHost(host, folder);
      await built;
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    runtimeContractTests({
      name: host.name,
      ...(rules.buffers && { buffersBodies: true }),
      start: (settings) => serveHost(host, folder, { SETTINGS: JSON.stringify(settings) }),
    });

    describe('the sample of docs/frameworks.md', () => {
      const secret = generateSecret();
      let served: Served | undefined;
      beforeAll(async () => {
        const env = { CALL_WEBHOOK_SECRET: secret, RECORDING_WEBHOOK_SECRET: generateSecret() };
        served = await serveHost(host, folder, env, SAMPLE);
      });
      afterAll(() => served?.close());
      const url = () => `http://127.0.0.1:${String(served?.port)}${SAMPLE}`;

      it('takes deliveries, and neither forgeries nor replays', async () => {
        await receives(secret).takesDeliveries(url());
      });

      it('neither redirects a trailing slash nor responds 404', async () => {
        for (const path of ['/', '/?a=1', '?a=1']) {
          const reply = await startSender(url() + path, secret).post(callBody('slash'));
          expect({ path, status: reply.status }).toEqual({ path, status: 200 });
        }
      });

      it('responds to broken JSON itself, and to bodies up to its own limit', async () => {
        const sender = startSender(url(), secret);
        for (const broken of ['{', '', Uint8Array.of(0x22, 0xff, 0x22)])
          expect((await sender.post(broken)).outcome).toBe('invalid-payload');
        const note = 'x'.repeat(900_000);
        expect((await sender.post(callBody('large', 'call:unknown', { note }))).status).toBe(200);
        const over = callBody('over', 'call:unknown', { note: 'x'.repeat(1_100_000) });
        expect(await sender.post(over)).toEqual({ status: 413, outcome: 'body-too-large' });
      });

      it('never responds 404, 410 or 3xx, whatever the method', async () => {
        const sender = startSender(url(), secret, { 'content-type': 'application/json' });
        const answers: string[] = [];
        const { methods = METHODS.filter((one) => one !== 'CONNECT') } = rules;
        for (const method of methods)
          answers.push(`${method} ${String((await sender.raw('', { method })).status)}`);
        expect(answers).toContain('POST 401');
        expect(answers.filter((answer) => / (?:3..|404|410)$/.test(answer))).toEqual([]);
      });

      it('takes JSON from any origin, and deliveries without a content type', async () => {
        const headers = { origin: 'https://elsewhere.example' };
        const reply = await startSender(url(), secret).post(callBody('origin'), { headers });
        expect(reply.status).toBe(200);
        const untyped = { headers: { 'content-type': undefined } };
        const bare = await startSender(url(), secret).post(callBody('untyped'), untyped);
        expect(bare.status).toBe(rules.untyped ?? 200);
        const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
        const { status } = await startSender(url(), secret).raw('a=1', { headers: form });
        expect(status).toBe(rules.crossSite ?? 401);
      });
    });
  });
}
