import { SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  WebhookError,
  type HandlerContext,
  type CallEventMap,
  type OutputOf,
  type StandardSchema,
} from '@call-webhooks/core';

const KEY = '@call-webhooks/nest:handlers';

/** A method that handles an event. */
export interface DecoratedMethod {
  readonly eventName: string;
  readonly method: string | symbol;
  readonly schema: StandardSchema | undefined;
}

/** Decorates a method that takes this event, and does not compile on another one. */
type HandlerDecorator<Event> = <Method extends (event: Event, context: HandlerContext) => unknown>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

/**
 * Makes a method of a provider the handler of an event. If its promise resolves, the event is done. If
 * it throws, the service retries the event. For an event that this package does not know, pass its
 * schema (zod, valibot, arktype and others).
 * @throws WebhookError `invalid-options` on a static method
 * @example
 * \@OnCallEvent('call:completed')
 * async onCompleted(event: CallCompletedEvent, context: HandlerContext) { … }
 *
 * \@OnCallEvent('call:voicemail', z.object({ seconds: z.number() }))
 * async onVoicemail(event: { seconds: number }) { … }
 */
export function OnCallEvent<Name extends keyof CallEventMap>(
  name: Name,
): HandlerDecorator<CallEventMap[Name]>;
export function OnCallEvent<Schema extends StandardSchema>(
  name: string,
  schema: Schema,
): HandlerDecorator<OutputOf<Schema>>;
export function OnCallEvent(eventName: string, schema?: StandardSchema): HandlerDecorator<never> {
  // Kept on the class: another decorator may replace the method, and what was set on it.
  return (target, method) => {
    if (typeof target === 'function') throw onStatic(`${target.name}.${String(method)}`, eventName);
    const known = decoratedMethods(target.constructor);
    SetMetadata(KEY, [...known, { eventName, method, schema }])(target.constructor);
  };
}

/** A static method belongs to no provider, so it would never be called. */
const onStatic = (name: string, eventName: string) =>
  new WebhookError(
    'invalid-options',
    `@OnCallEvent('${eventName}') is on ${name}, which is static. Remove \`static\`: handlers are methods of a provider's instance.`,
  );

const reflector = new Reflector();

/** The decorated methods of a class and of those that it extends. */
export function decoratedMethods(type: object): readonly DecoratedMethod[] {
  return reflector.get<DecoratedMethod[] | undefined>(KEY, type as never) ?? [];
}
