import { afterEach, describe } from '@jest/globals';
import { generateSecret, type Outcome, type ReceiverOptions } from '@call-webhooks/core';
import { hostile } from './adapter/hostile.ts';
import { outcomeTable } from './adapter/outcome-table.ts';
import { overSupertest } from './adapter/over-supertest.ts';
import { probes } from './adapter/probes.ts';
import { requests } from './adapter/requests.ts';
import type { AdapterUnderTest, Started } from './adapter/under-test.ts';
import { shutdown } from './adapter/shutdown.ts';
import { verification } from './adapter/verification.ts';
import { collectingLogger } from '@call-webhooks/store-tests/internal';
import { startSender } from './sender.ts';

/**
 * What every adapter must do, over real HTTP: requests get in with their bytes unchanged, and the
 * responses and log lines of the receiver get out. What the receiver decides is tested in core.
 */
export function adapterContractTests(adapter: AdapterUnderTest): void {
  describe(`${adapter.name}: adapter contract tests`, () => {
    const open: Started[] = [];
    const host = adapter.host ?? {};
    const always = { ...(host.needsContentType && { 'content-type': 'application/json' }) };
    afterEach(async () => {
      for (const started of open.splice(0)) await started.end();
    });

    async function mount(
      options: Partial<ReceiverOptions> = {},
      graceMs?: number,
    ): Promise<Started> {
      const secret = generateSecret();
      const logger = collectingLogger();
      const outcomes: Outcome[] = [];
      const own: ReceiverOptions = {
        secret,
        logger,
        onOutcome: (outcome) => void outcomes.push(outcome),
        ...options,
      };
      const { url, readyUrl, receiver, close, closesReceiver } = await adapter.mount(own, graceMs);
      const { lines, entries } = logger;
      async function shutDown(grace: number) {
        await (closesReceiver ? close() : receiver.close({ graceMs: grace }));
      }
      async function end() {
        await receiver.close({ graceMs: 0 });
        await close();
      }
      const sender = startSender(url, secret, always, overSupertest);
      return { url, readyUrl, receiver, shutDown, end, secret, sender, lines, entries, outcomes };
    }

    async function start(options?: Partial<ReceiverOptions>, graceMs?: number): Promise<Started> {
      const started = await mount(options, graceMs);
      open.push(started);
      return started;
    }

    for (const part of [outcomeTable, verification, requests, probes, shutdown])
      part({ start, mount, host });
    if (!host.readsBody) hostile({ start, mount, host });
  });
}
