import type { Call } from '../calls/call.ts';
import {
  callBody,
  callDetails,
  fillTemplate,
  recordingBody,
  type BodyFieldNames,
} from '../calls/payloads.ts';
import type { Chaos } from '../chaos/chaos.ts';
import { planDelivery } from '../chaos/chaos-plan.ts';
import type { SimulatorClock } from '../clock/clock.ts';
import type { Action, EventName, Rule } from '../rules/rule.ts';
import type { Rules } from '../rules/rules.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { DeliveryLog } from './delivery-log.ts';
import type { DeliveryScheduler } from './delivery-scheduler.ts';
import type { Delivery } from './delivery.ts';

interface Deps {
  readonly clock: SimulatorClock;
  readonly random: SeededRandom;
  readonly chaos: Chaos;
  readonly rules: Rules;
  readonly log: DeliveryLog;
  readonly scheduler: DeliveryScheduler;
  readonly fieldNames: BodyFieldNames;
  readonly workspaceId: string;
  readonly baseUrl: () => string;
}

/** An event that somebody wrote. */
export interface OwnEvent {
  readonly ruleId: string;
  readonly actionId: string;
  /** JSON text. */
  readonly body: string;
}

type NewDelivery = Omit<Delivery, '_id' | 'number' | 'createdAt' | 'state' | 'attempts'>;

/** Turns events into deliveries: one for each action of each rule that fires. */
export class EventDispatcher {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Fires the rules of an event. A user's rule fires for the calls of that user, a workspace rule
   * for the calls of everybody.
   * @guess Whose calls trigger a rule
   */
  dispatch(eventName: EventName, call: Call): void {
    for (const rule of this.#deps.rules.list()) {
      if (rule.trigger !== eventName) continue;
      if (rule.scope === 'user' && rule.ownerId !== call.placedBy) continue;
      for (const action of rule.actions) this.#deliver(eventName, call, rule, action);
    }
  }

  /**
   * Sends the event of a delivery again, as a new delivery, even while the rule is paused.
   * @param edited another body, as JSON text
   * @throws SimulatorError `not-found` for an unknown delivery, or when its action was removed;
   *   `invalid-input` for a body that is not JSON
   */
  resend(id: string, edited?: string): Delivery {
    const { log, rules } = this.#deps;
    const { ruleId, actionId, callId, eventName, body } = log.get(id);
    rules.action(ruleId, actionId);
    if (edited !== undefined) parseJson(edited);
    return this.#send({
      ...{ ruleId, actionId, callId, eventName, body: edited ?? body },
      ...{ copyOf: id, copiedBy: 'resend' },
      ...(edited !== undefined && edited !== body && { byHand: true }),
    });
  }

  /**
   * Sends an event that somebody wrote to an action, even while its rule is paused.
   * @throws SimulatorError `not-found` for an unknown action, `invalid-input` for a body that is not JSON
   */
  send({ ruleId, actionId, body }: OwnEvent): Delivery {
    const { rules } = this.#deps;
    rules.action(ruleId, actionId);
    const { callId } = (parseJson(body) ?? {}) as { callId?: unknown };
    return this.#send({
      ruleId,
      actionId,
      callId: typeof callId === 'string' ? callId : '',
      eventName: rules.get(ruleId).trigger,
      body,
      byHand: true,
    });
  }

  #send(event: NewDelivery): Delivery {
    const { log, scheduler, clock } = this.#deps;
    const delivery = this.#add(event);
    scheduler.schedule(delivery, clock.now());
    return log.get(delivery._id);
  }

  #deliver(eventName: EventName, call: Call, rule: Rule, action: Action): void {
    const { scheduler, clock, random, chaos } = this.#deps;
    const event: NewDelivery = {
      ruleId: rule._id,
      actionId: action._id,
      callId: call._id,
      eventName,
      body: JSON.stringify(this.#payload(eventName, call, action)),
    };
    const delivery = this.#add(event);
    if (rule.state === 'paused') {
      scheduler.dropOrHold(delivery);
      return;
    }
    const { delayMs, copies } = planDelivery(random, chaos.get(), delivery._id);
    const at = clock.now() + delayMs;
    const all = [
      { what: delivery, afterMs: 0 },
      ...copies.map(({ by, afterMs }) => ({
        what: this.#add({ ...event, copyOf: delivery._id, copiedBy: by }),
        afterMs,
      })),
    ];
    for (const { what, afterMs } of all) scheduler.schedule(what, at + afterMs);
  }

  #payload(eventName: EventName, call: Call, action: Action): unknown {
    const { fieldNames, workspaceId, baseUrl } = this.#deps;
    if (eventName === 'call:recording-available')
      return recordingBody(call, workspaceId, baseUrl());
    const body = callBody(call, eventName, fieldNames);
    // A custom payload replaces the body, and gets no eventName (spec, "Call webhook body").
    return action.payload === undefined
      ? body
      : fillTemplate(action.payload, { ...body, ...callDetails(call, eventName) });
  }

  #add(fields: NewDelivery): Delivery {
    const { log, random, clock } = this.#deps;
    return log.add((number) => ({
      _id: random.id('delivery', number),
      number: number + 1,
      ...fields,
      createdAt: clock.now(),
      state: 'waiting',
      attempts: [],
    }));
  }
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    throw new SimulatorError('invalid-input', 'The body is not valid JSON.');
  }
}
