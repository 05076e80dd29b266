import type { WebhookEvent, Simulator, SimulatorOptions } from '@call-webhooks/simulator';
import type { Respond } from './receiver.ts';
import type { testResources } from './test-resources.ts';

/** A rule, a receiver, and one call that has started. */
export async function oneEvent(
  open: ReturnType<typeof testResources>,
  respond: Respond | number,
  options: SimulatorOptions = {},
) {
  const simulator = await open.simulator(options);
  const receiver = await open.receiver(respond);
  const rule = simulator.rules.create({
    trigger: 'call:started',
    actions: [{ url: receiver.url }],
  });
  simulator.calls.start();
  return { simulator, receiver, ruleId: rule._id, ...views(simulator, rule._id) };
}

const views = (simulator: Simulator, ruleId: string) => ({
  event: () => simulator.events.list()[0]!,
  rule: () => simulator.rules.get(ruleId),
});

/** What the service saw of each attempt: a status, or what went wrong. */
export const responses = (event: WebhookEvent) =>
  event.attempts.map(({ response }) =>
    response?.kind === 'status' ? response.status : response?.kind,
  );
