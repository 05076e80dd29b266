import { isUtf8 } from 'node:buffer';
import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Has } from './faulty-verification.ts';

interface Event {
  readonly eventName?: unknown;
  readonly callId?: unknown;
}

/** What a small receiver does with authentic deliveries. It keeps everything in memory. */
export class FaultyEvents {
  readonly effects = new Map<string, number>();
  readonly ids = new Set<string>();
  readonly #done = new Set<string>();
  readonly #running = new Set<string>();
  readonly #deliveries = new Map<string, number>();
  readonly #attempts = new Map<string, number>();
  readonly #copies = new EventEmitter();
  readonly #has: Has;
  readonly #deadlineMs: number;

  /** @param deadlineMs when it answers 503 while its handler runs */
  constructor(has: Has, deadlineMs: number) {
    this.#has = has;
    this.#deadlineMs = deadlineMs;
  }

  /** @returns the status of the response */
  async process(body: Buffer, id: string, closed: Promise<unknown>) {
    const has = this.#has;
    if (this.ids.has(id) && !has('replay', 'replay-race')) return 409;
    if (this.ids.size >= 20 && has('replay-after-others')) this.ids.clear();
    this.ids.add(id);
    const event = parsed(body);
    if (typeof event !== 'object') return has('broken-json') ? 404 : 422;
    const status = this.#refusedBody(event ?? {}, body);
    if (status !== undefined) return status;
    const key = this.#keyOf(event ?? {}, body);
    return key === undefined ? 200 : this.#run(event ?? {}, key, closed);
  }

  #refusedBody(event: Event & object, body: Buffer): number | undefined {
    const has = this.#has;
    if (has('not-utf-8') && !isUtf8(body)) return 404;
    if (has('not-an-object') && Array.isArray(event)) return 404;
    if (has('refuses-unknown') && event.eventName === 'call-webhooks:check') return 422;
    if (has('requires-owner') && !('owner' in event)) return 422;
    if (has('unknown-fields') && 'fieldOfTomorrow' in event) return 422;
    if (
      has('optional-fields') &&
      event.eventName === 'call:started' &&
      !('fromPhoneNumber' in event)
    )
      return 422;
    if (has('unknown-event') && event.eventName === 'call-webhooks:check') return 404;
    if (has('custom-payload') && 'check' in event) return 404;
    if (has('wrong-types') && event.eventName === 7) return 404;
    const name = String(event.eventName).replace('call:recording', 'recording');
    return has(name.replace(':', '-')) ? 500 : undefined;
  }

  #keyOf({ callId, eventName }: Event, body: Buffer): string | undefined {
    const has = this.#has;
    if (typeof callId !== 'string' || typeof eventName !== 'string') return undefined;
    if (has('duplicate-other-bytes')) return body.toString('base64');
    return has('events-of-one-call') ? callId : `${callId}:${eventName}`;
  }

  async #run({ callId, eventName }: Event, key: string, closed: Promise<unknown>) {
    const has = this.#has;
    const deliveries = (this.#deliveries.get(key) ?? 0) + 1;
    this.#deliveries.set(key, deliveries);
    if (has('later-retry') && deliveries > 2) return 500;
    if (this.#done.has(key)) return has('retry') ? 409 : 200;
    if (this.#running.has(key)) {
      this.#copies.emit(key);
      return has('acknowledged-while-running') ? 200 : 503;
    }
    const isRecording = eventName === 'call:recording-available';
    const completed = `${String(callId)}:call:completed`;
    if (has('out-of-order') && isRecording && !this.#done.has(completed)) return 200;
    if (has('retry-after-failure')) this.#done.add(key);
    if (!has('race')) this.#running.add(key);
    const forgets = has('lost-response') && deliveries === 1 && key.includes('.slow-');
    const ended = this.#handle(`${String(callId)}:${String(eventName)}`).then(async (result) => {
      if (forgets) await closed;
      return result;
    });
    void ended.then(() => this.#running.delete(key));
    const remember = (succeeded: boolean) => {
      if (has('duplicate') || (has('duplicate-recording') && isRecording)) return;
      if (succeeded && !forgets) this.#done.add(key);
    };
    const lateAfter = has('deadline') ? 10 * this.#deadlineMs : this.#deadlineMs;
    if (has('queue')) {
      setTimeout(() => this.count(key), 600);
      return 202;
    }
    const result = await Promise.race([ended, pause(lateAfter, 'late' as const, { ref: false })]);
    if (result === 'late') {
      void ended.then(remember);
      return 503;
    }
    remember(result);
    return result ? 200 : 500;
  }

  /** The handler. It does what the probe asks of it in the call id. */
  async #handle(key: string): Promise<boolean> {
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    const slowMs = Number(/\.slow-(\d+)/.exec(key)?.[1] ?? 0);
    // So that the test does not depend on time.
    if (slowMs > 0 && this.#has('acknowledged-while-running')) await once(this.#copies, key);
    else if (slowMs > 0) await pause(slowMs, undefined, { ref: false });
    if (attempt <= Number(/\.fail-(\d+)/.exec(key)?.[1] ?? 0)) return false;
    this.count(key);
    return true;
  }

  count(key: string): void {
    this.effects.set(key, (this.effects.get(key) ?? 0) + 1);
  }
}

function parsed(body: Buffer): (Event & object) | null | undefined {
  try {
    return JSON.parse(body.toString()) as Event & object;
  } catch {
    return undefined;
  }
}
