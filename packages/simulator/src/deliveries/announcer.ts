import { callBody, detailsOf, recordingBody, type BodyFieldNames } from '../calls/call-body.ts';
import type { Call } from '../calls/call.ts';
import { fillTemplate } from '../calls/payload-template.ts';
import type { Chaos } from '../chaos/chaos.ts';
import { planDelivery } from '../chaos/delivery-plan.ts';
import type { TurnableClock } from '../clock/clock.ts';
import type { Action, EventName, Rule } from '../rules/rule.ts';
import type { Rules } from '../rules/rules.ts';
import type { Draws } from '../seed/draws.ts';
import type { Courier } from './courier.ts';
import type { DeliveryLog } from './delivery-log.ts';
import type { Delivery } from './delivery.ts';

interface Parts {
  readonly clock: TurnableClock;
  readonly draws: Draws;
  readonly chaos: Chaos;
  readonly rules: Rules;
  readonly log: DeliveryLog;
  readonly courier: Courier;
  readonly fieldNames: BodyFieldNames;
  readonly workspaceId: string;
  readonly baseUrl: () => string;
}

type NewDelivery = Omit<Delivery, '_id' | 'number' | 'createdAt' | 'state' | 'attempts'>;

/** Makes deliveries of events: one for each webhook action of each rule with that trigger. */
export class Announcer {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** An event has happened to a call. */
  announce(eventName: EventName, call: Call): void {
    for (const rule of this.#parts.rules.list()) {
      if (rule.trigger !== eventName) continue;
      for (const action of rule.actions) this.#toAction(eventName, call, rule, action);
    }
  }

  /**
   * Sends the event of a delivery once more, as a delivery of its own, even if its rule is paused.
   * @throws SimulatorError `not-found`
   */
  resend(id: string): Delivery {
    const { log, courier, clock } = this.#parts;
    const { ruleId, actionId, callId, eventName, body } = log.get(id);
    const again = { ruleId, actionId, callId, eventName, body };
    const copy = this.#add({ ...again, copyOf: id, copiedBy: 'resend' });
    courier.dispatch(copy, clock.now());
    return log.get(copy._id);
  }

  #toAction(eventName: EventName, call: Call, rule: Rule, action: Action): void {
    const { courier, clock, draws, chaos } = this.#parts;
    const event: NewDelivery = {
      ruleId: rule._id,
      actionId: action._id,
      callId: call._id,
      eventName,
      body: JSON.stringify(this.#payload(eventName, call, action)),
    };
    const delivery = this.#add(event);
    if (rule.state === 'paused') {
      courier.leave(delivery);
      return;
    }
    const { holdBackMs, copies } = planDelivery(draws, chaos.get(), delivery._id);
    const at = clock.now() + holdBackMs;
    const all = [
      { what: delivery, afterMs: 0 },
      ...copies.map(({ by, afterMs }) => ({
        what: this.#add({ ...event, copyOf: delivery._id, copiedBy: by }),
        afterMs,
      })),
    ];
    for (const { what, afterMs } of all) courier.dispatch(what, at + afterMs);
  }

  #payload(eventName: EventName, call: Call, action: Action): unknown {
    const { fieldNames, workspaceId, baseUrl } = this.#parts;
    if (eventName === 'call:recording-available')
      return recordingBody(call, workspaceId, baseUrl());
    const body = callBody(call, eventName, fieldNames);
    // The payload is sent instead of the body, and no eventName is added (spec, "Call webhook body").
    return action.payload === undefined
      ? body
      : fillTemplate(action.payload, { ...body, ...detailsOf(call, eventName) });
  }

  #add(fields: NewDelivery): Delivery {
    const { log, draws, clock } = this.#parts;
    return log.add((number) => ({
      _id: draws.id('delivery', number),
      number: number + 1,
      ...fields,
      createdAt: clock.now(),
      state: 'waiting',
      attempts: [],
    }));
  }
}
