import { serveLocally } from '@call-webhooks/contract-tests';
import { createEffects, type Effects } from './effects.ts';

/** A receiver that can be graded. */
export interface GradedReceiver {
  readonly url: string;
  readonly effectsUrl: string;
  close(): Promise<void>;
}

/** A secret whose key is text, for libraries that take no other, and a second one. */
export const SECRETS = [
  `whsec_${Buffer.from('a-key-of-ascii-characters').toString('base64')}`,
  'whsec_WcOulym8Zkrzu3zWe4cxhJDijIpnHxAQ',
] as const;

/** Mounts a receiver, and reports its effects on another port. */
export async function gradedReceiver(
  mount: (handle: Effects['handle']) => Promise<{ origin: string; close(): Promise<unknown> }>,
): Promise<GradedReceiver> {
  const effects = createEffects();
  const reports = await serveLocally((_request, response) => void response.end(effects.report()));
  const { origin, ...server } = await mount(effects.handle);
  return {
    url: `${origin}/hook`,
    effectsUrl: reports.origin,
    async close() {
      await server.close();
      await reports.close();
    },
  };
}
