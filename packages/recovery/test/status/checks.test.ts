import { describe, expect, it } from '@jest/globals';
import { counterName } from '@call-webhooks/core/stores';
import { status } from '@call-webhooks/recovery';
import { HOUR, MINUTE } from './service-model.ts';
import { ack, NOW, storeWith } from './written-log.ts';

const CHECK = 'call-webhooks:check';

describe('a status', () => {
  it('says nothing of deliveries that check and doctor have signed: no event, finding, note or count', async () => {
    const rejections = Object.fromEntries(
      [8, 5, 2].map((minute) => [
        NOW / MINUTE - minute,
        { [counterName('rejected', 'signature-mismatch', '')]: 1 },
      ]),
    );
    const slow = (eventName: string) => counterName('deliveryMs', eventName, '60');
    const world = (hasChecks: boolean) => {
      const checks = (more: Record<string, number>): Record<string, number> =>
        hasChecks ? more : {};
      const minutes: Record<number, Record<string, number>> = { ...rejections };
      minutes[NOW / MINUTE - 1] = {
        [counterName('outcome', 'webhook', 'handled', 'call:completed')]: 1,
        ...checks({
          [counterName('outcome', 'webhook', 'ignored', CHECK)]: 7,
          [counterName('outcome', 'webhook', 'dead-lettered', CHECK)]: 1,
          [counterName('late', 'webhook', 'dead-lettered', CHECK)]: 1,
        }),
      };
      const failed = (minute: number, outcome: 'store-unavailable' | 'dead-lettered') => ({
        ...{ at: NOW - minute * MINUTE, process: 'p', durationMs: 1, source: 'webhook' as const },
        ...{ outcome, webhookId: String(minute), key: 'check.1', eventName: CHECK, attempt: 9 },
      });
      return {
        marks: {
          [ack('call:completed')]: NOW - MINUTE,
          ...checks({
            [ack(CHECK)]: NOW - HOUR,
            [counterName('failed', '', CHECK, 's')]: NOW - HOUR,
          }),
        },
        failures: hasChecks
          ? [
              failed(20, 'store-unavailable'),
              failed(1, 'store-unavailable'),
              failed(1, 'dead-lettered'),
            ]
          : [],
        counts: {
          minutes,
          times: { [NOW / (10 * MINUTE) - 1]: checks({ [slow(CHECK)]: 9 }) },
          arrivals: {
            [NOW / (10 * MINUTE) - 1]: {
              [counterName('call:completed', '')]: 1,
              ...checks({ [counterName(CHECK, '')]: 9 }),
            },
            ...(hasChecks && {
              [NOW / (10 * MINUTE) - 7 * 144 - 5]: { [counterName(CHECK, '')]: 99 },
            }),
          },
        },
      };
    };
    const [without, withChecks] = await Promise.all(
      [false, true].map(async (hasChecks) =>
        status({ store: await storeWith(world(hasChecks)), timeZone: 'UTC' }),
      ),
    );
    expect(withChecks).toEqual(without);
    expect(without?.attention).toMatchObject([{ kind: 'rejected', urgent: false, count: 3 }]);
    expect(without?.events).toMatchObject([{ eventName: 'call:completed', state: 'arrives' }]);
  });

  it('has what only looks like a check: a tenant of this name, and an event that begins so', async () => {
    const marks = {
      [ack('call:completed', CHECK)]: NOW - MINUTE,
      [ack(`${CHECK}s`)]: NOW - MINUTE,
    };
    const { events } = await status({ store: await storeWith({ marks }) });
    expect(events).toMatchObject([
      { eventName: `${CHECK}s` },
      { tenant: CHECK, eventName: 'call:completed' },
    ]);
  });
});
