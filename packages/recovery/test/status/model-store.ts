import { memoryStore } from '@call-webhooks/core';
import type { EventState, OutcomeLog } from '@call-webhooks/core/stores';
import type { StatusStore } from '@call-webhooks/recovery';
import type { Agenda } from './agenda.ts';

/** What a store knows of events, and a real log. */
export class ModelStore implements StatusStore {
  readonly log: OutcomeLog;
  readonly rememberFor = 86_400_000;
  readonly #events = new Map<string, { attempts: number; state: EventState }>();
  readonly #isDown: () => boolean;
  readonly cursors = new Map<string, string>();

  constructor(agenda: Agenda, isDown: () => boolean) {
    const log = memoryStore({ now: () => agenda.now }).log as OutcomeLog;
    this.#isDown = isDown;
    this.log = { ...log, append: async (batch) => (this.#check(), log.append(batch)) };
  }

  #check(): void {
    if (this.#isDown()) throw new Error('ECONNREFUSED');
  }

  /** @returns what the event already is, unless it runs now */
  claim(key: string): EventState | undefined {
    const event = this.#events.get(key);
    if (event && event.state !== 'failed') return event.state;
    this.#events.set(key, { attempts: (event?.attempts ?? 0) + 1, state: 'running' });
    return undefined;
  }

  attempts(key: string): number {
    return this.#events.get(key)?.attempts ?? 0;
  }

  settle(key: string, state: EventState): void {
    this.#events.set(key, { attempts: this.attempts(key), state });
  }

  async ping(): Promise<void> {
    this.#check();
  }

  async peek(keys: readonly string[]): Promise<readonly (EventState | undefined)[]> {
    return keys.map((key) => this.#events.get(key)?.state);
  }

  async loadCursor(name: string): Promise<string | undefined> {
    return this.cursors.get(name);
  }
}
