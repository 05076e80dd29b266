import type { Simulator } from '@call-webhooks/simulator';

/** Adds activity events to a simulator: `opened` ones, a hundred for each message. */
export function fillMessages(simulator: Pick<Simulator, 'messages'>, events: number): void {
  const { messages } = simulator;
  for (let made = 0; made < events;) {
    const number = Math.floor(made / 100);
    const { _id } = messages.send({ subject: `Offer ${String(number)}`, to: 'ann@example.com' });
    for (let opening = 0; opening < 100 && made < events; opening++, made++)
      messages.record(_id, { action: 'opened', actionName: `Opened, number ${String(made)}` });
  }
}
