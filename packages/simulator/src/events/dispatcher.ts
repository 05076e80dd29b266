import type { Call } from '../calls/call.ts';
import { callBody, callDetails, fillTemplate, recordingBody } from '../calls/payloads.ts';
import { planEvent, type Chaos } from '../chaos.ts';
import type { SimulatorClock } from '../clock/clock.ts';
import { SimulatorError } from '../errors.ts';
import type { Settings } from '../options.ts';
import type { Action, EventName, Rule } from '../rules/rule.ts';
import type { Rules } from '../rules/rules.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { WebhookEvent } from './webhook-event.ts';
import type { EventLog } from './log.ts';
import type { EventScheduler } from './scheduler.ts';

type NewEvent = Omit<WebhookEvent, '_id' | 'number' | 'createdAt' | 'state' | 'attempts'>;

/** What is used of the simulation. */
interface Parts {
  readonly chaos: Chaos;
  readonly clock: SimulatorClock;
  readonly log: EventLog;
  readonly random: SeededRandom;
  readonly rules: Rules;
  readonly scheduler: EventScheduler;
  readonly settings: Settings;
  readonly url: string;
}

/** Makes a `WebhookEvent` for each action of each rule that an event of a call fires. */
export class EventDispatcher {
  readonly #simulation: Parts;

  constructor(simulation: Parts) {
    this.#simulation = simulation;
  }

  /**
   * Fires the rules of an event. A user's rule fires for the calls of that user, a workspace rule
   * for the calls of everybody.
   * @guess Whose calls trigger a rule
   */
  dispatch(eventName: EventName, call: Call): void {
    for (const rule of this.#simulation.rules.list()) {
      if (rule.trigger !== eventName) continue;
      if (rule.scope === 'user' && rule.ownerId !== call.placedBy) continue;
      for (const action of rule.actions) this.#send(eventName, call, rule, action);
    }
  }

  /**
   * Sends an event again, as a copy, even while its rule is paused.
   * @param edited another body, as JSON text
   * @throws SimulatorError `not-found` for an unknown event, or when its action was removed;
   *   `invalid-input` for a body that is not JSON
   */
  resend(id: string, edited?: string): WebhookEvent {
    const { log, rules, scheduler, clock } = this.#simulation;
    const { ruleId, actionId, callId, eventName, body } = log.get(id);
    rules.action(ruleId, actionId);
    const event = this.#add({
      ruleId,
      actionId,
      callId,
      eventName,
      body: edited ?? body,
      ...(edited !== undefined && namedIn(edited)),
      copyOf: id,
      copiedBy: 'resend',
      ...(edited !== undefined && edited !== body && { byHand: true }),
    });
    scheduler.schedule(event, clock.now());
    return log.get(event._id);
  }

  #send(eventName: EventName, call: Call, rule: Rule, action: Action): void {
    const { scheduler, clock, random, chaos } = this.#simulation;
    const fields: NewEvent = {
      ruleId: rule._id,
      actionId: action._id,
      callId: call._id,
      eventName,
      body: JSON.stringify(this.#payload(eventName, call, action)),
    };
    const event = this.#add(fields);
    if (rule.state === 'paused') {
      scheduler.dropOrHold(event);
      return;
    }
    const { delayMs, copies } = planEvent(random, chaos.get(), event._id);
    const at = clock.now() + delayMs;
    const all = [
      { what: event, afterMs: 0 },
      ...copies.map(({ by, afterMs }) => ({
        what: this.#add({ ...fields, copyOf: event._id, copiedBy: by }),
        afterMs,
      })),
    ];
    for (const { what, afterMs } of all) scheduler.schedule(what, at + afterMs);
  }

  #payload(eventName: EventName, call: Call, action: Action): unknown {
    const { settings, url } = this.#simulation;
    if (eventName === 'call:recording-available')
      return recordingBody(call, settings.workspace._id, settings.baseUrl ?? url);
    const body = callBody(call, eventName, settings.fieldNames);
    // A custom payload replaces the body, and gets no eventName (spec, "Call webhook body").
    return action.payload === undefined
      ? body
      : fillTemplate(action.payload, { ...body, ...callDetails(call, eventName) });
  }

  #add(fields: NewEvent): WebhookEvent {
    const { log, random, clock } = this.#simulation;
    return log.add((created) => ({
      _id: random.id('event', created),
      number: created + 1,
      ...fields,
      createdAt: clock.now(),
      state: 'waiting',
      attempts: [],
    }));
  }
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new SimulatorError('invalid-input', 'The body is not valid JSON.');
  }
}

/**
 * The call and the event that an edited body names.
 * @throws SimulatorError `invalid-input` for a body that is not JSON
 */
function namedIn(body: string): Partial<Pick<WebhookEvent, 'callId' | 'eventName'>> {
  const { callId, eventName } = Object(parseJson(body)) as Record<string, unknown>;
  return {
    ...(typeof callId === 'string' && { callId }),
    ...(typeof eventName === 'string' && { eventName }),
  };
}
