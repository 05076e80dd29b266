import type { AsyncLocalStorage } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import type {
  DeliveryMessage,
  EnqueueMessage,
  HandlerMessage,
  OutcomeMessage,
  StoreMessage,
} from '@call-webhooks/core/internal';
import { diag } from '@opentelemetry/api';
import { SCOPE } from './attributes.ts';

/** The messages of core's tracing channels. */
export interface Messages {
  delivery: DeliveryMessage;
  handler: HandlerMessage;
  store: StoreMessage;
  enqueue: EnqueueMessage;
}

type Listener<Message> = (message: Message) => void;

/**
 * Listens to the channels of core. Errors that a listener throws are logged and have no other effect.
 */
export class Listeners {
  readonly #undo: (() => void)[] = [];

  onOutcome(listener: Listener<OutcomeMessage>): void {
    this.#subscribe('call-webhooks:outcome', listener as Listener<unknown>);
  }

  onStart<Name extends keyof Messages>(name: Name, listener: Listener<Messages[Name]>): void {
    this.#subscribe(`tracing:call-webhooks:${name}:start`, listener as Listener<unknown>);
  }

  /** The promise of the step has settled. */
  onEnd<Name extends keyof Messages>(name: Name, listener: Listener<Messages[Name]>): void {
    this.#subscribe(`tracing:call-webhooks:${name}:asyncEnd`, listener as Listener<unknown>);
  }

  /** Runs each step of a channel with a value in `storage`, from before its start. */
  bind<Name extends keyof Messages, Value>(
    name: Name,
    storage: AsyncLocalStorage<Value | undefined>,
    valueOf: (message: Messages[Name]) => Value,
  ): void {
    const channel = diagnostics.tracingChannel(`call-webhooks:${name}`).start;
    channel.bindStore(storage, (message) => {
      try {
        return valueOf(message as Messages[Name]);
      } catch (error) {
        report(error); // thrown, it would end the process
        return storage.getStore();
      }
    });
    this.#undo.push(() => void channel.unbindStore(storage));
  }

  close(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  #subscribe(name: string, listener: Listener<unknown>): void {
    const guarded = (message: unknown) => {
      try {
        listener(message);
      } catch (error) {
        report(error);
      }
    };
    diagnostics.subscribe(name, guarded);
    this.#undo.push(() => void diagnostics.unsubscribe(name, guarded));
  }
}

const report = (error: unknown) => {
  diag.error(`${SCOPE} failed:`, error);
};
