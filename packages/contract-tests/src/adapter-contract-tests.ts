import { afterEach, describe } from '@jest/globals';
import { generateSecret, type Outcome, type ReceiverOptions } from '@call-webhooks/core';
import { outcomeTable } from './adapter/outcome-table.ts';
import { logging } from './adapter/logging.ts';
import { oneEvent } from './adapter/one-event.ts';
import { privacy } from './adapter/privacy.ts';
import { requests } from './adapter/requests.ts';
import { tenants } from './adapter/tenants.ts';
import type { AdapterUnderTest, Mounted, Started } from './adapter/under-test.ts';
import { verification } from './adapter/verification.ts';
import { collectingLogger } from './collecting-logger.ts';
import { startSender } from './sender.ts';

/** What every adapter must do, over real HTTP. */
export function adapterContractTests(adapter: AdapterUnderTest): void {
  describe(`${adapter.name}: adapter contract tests`, () => {
    const open: Mounted[] = [];
    const host = adapter.host ?? {};
    const always = { ...(host.needsContentType && { 'content-type': 'application/json' }) };
    afterEach(async () => {
      for (const mounted of open.splice(0)) {
        await mounted.receiver.close({ graceMs: 0 });
        await mounted.close();
      }
    });

    async function start(options: Partial<ReceiverOptions> = {}): Promise<Started> {
      const secret = generateSecret();
      const logger = collectingLogger();
      const outcomes: Outcome[] = [];
      const mounted = await adapter.mount({
        secret,
        logger,
        onOutcome: (outcome) => void outcomes.push(outcome),
        ...options,
      });
      open.push(mounted);
      return {
        ...mounted,
        secret,
        sender: startSender(mounted.url, secret, always),
        lines: logger.lines,
        entries: logger.entries,
        outcomes,
      };
    }

    for (const part of [outcomeTable, oneEvent, verification, requests, logging, privacy, tenants])
      part({ start, host });
  });
}
