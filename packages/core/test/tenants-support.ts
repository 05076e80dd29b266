import { createHash } from 'node:crypto';
import { createReceiver, type Outcome, type ReceiverOptions } from '../src/index.ts';
import { delivery, Lines, NOW, type Signing } from './support.ts';

/** A secret of its own for each tenant. */
export const secretOf = (tenant: string): string =>
  `whsec_${createHash('sha256').update(tenant).digest('base64')}`;

/** A receiver whose tenants are named by the path `/hooks/<tenant>`. */
export function createTenantsReceiver(
  options: Partial<ReceiverOptions> & Pick<ReceiverOptions, 'secret'>,
) {
  const outcomes: Outcome[] = [];
  const logger = new Lines();
  const receiver = createReceiver({
    tenant: ({ path }) => path.split('/')[2],
    now: () => NOW,
    logger,
    onOutcome: (outcome) => void outcomes.push(outcome),
    ...options,
  });
  return {
    receiver,
    outcomes,
    logger,
    /** Sends to a tenant's path what is signed with its secret, or another one. */
    async post(tenant: string, payload: unknown, signing: Signing = {}) {
      const request = await delivery(payload, { secret: secretOf(tenant), ...signing });
      return receiver.receive({ ...request, url: `/hooks/${tenant}` });
    },
    async send(tenant: string, payload: unknown, signing: Signing = {}) {
      const request = await delivery(payload, { secret: secretOf(tenant), ...signing });
      const { outcome } = await receiver.receive({ ...request, url: `/hooks/${tenant}` });
      return outcome.outcome;
    },
  };
}
