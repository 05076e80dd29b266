import { ContextIdFactory, type DiscoveryService, type ModuleRef } from '@nestjs/core';
import { WebhookError, type Handler, type StandardSchema } from '@call-webhooks/core';
import { decoratedMethods, type DecoratedMethod } from './on-call-event.ts';

/** The handlers of an app and the schemas of its extra events, both by event name. */
export interface FoundHandlers {
  readonly on: Record<string, Handler<unknown>>;
  readonly events: Record<string, StandardSchema>;
}

type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];
type Instance = Record<string | symbol, Handler<unknown>>;

/**
 * Finds the methods with `@OnCallEvent` of all providers and controllers.
 * @throws WebhookError `invalid-options` if two methods handle the same event
 */
export function findHandlers(discovery: DiscoveryService, moduleRef: ModuleRef): FoundHandlers {
  const found: FoundHandlers = { on: {}, events: {} };
  const names = new Map<string, string>();
  const seen = new Set<unknown>();
  for (const wrapper of [...discovery.getProviders(), ...discovery.getControllers()]) {
    const instance = wrapper.instance as object | null | undefined;
    if (typeof instance !== 'object' || instance === null || seen.has(instance)) continue;
    seen.add(instance); // an alias (`useExisting`) has the same instance
    for (const decorated of methodsOf(instance)) {
      const { eventName, method, schema } = decorated;
      const name = `${instance.constructor.name}.${String(method)}${inModule(wrapper)}`;
      const other = names.get(eventName);
      if (other !== undefined) throw twoHandlers(eventName, other, name);
      names.set(eventName, name);
      found.on[eventName] = handlerOf(wrapper, method, moduleRef);
      if (schema) found.events[eventName] = schema;
    }
  }
  return found;
}

/** A method that overrides a decorated one is called in its place, and only once. */
function methodsOf(instance: object): DecoratedMethod[] {
  // Objects without a prototype have no constructor.
  const type = (instance as { constructor?: unknown }).constructor;
  const byName = new Map<string, DecoratedMethod>();
  if (typeof type === 'function')
    for (const decorated of decoratedMethods(type))
      byName.set(`${decorated.eventName}\n${String(decorated.method)}`, decorated);
  return [...byName.values()];
}

function handlerOf(
  wrapper: Wrapper,
  method: string | symbol,
  moduleRef: ModuleRef,
): Handler<unknown> {
  if (wrapper.isDependencyTreeStatic() && !wrapper.isTransient) {
    return (event, context) => (wrapper.instance as Instance)[method]?.(event, context);
  }
  // A provider in request scope gets a new instance for each event.
  return async (event, context) => {
    const contextId = ContextIdFactory.create();
    const options = { strict: false };
    const instance: Instance = await moduleRef.resolve(wrapper.token, contextId, options);
    return instance[method]?.(event, context);
  };
}

const inModule = ({ host }: Wrapper) => (host ? ` (in ${host.name})` : '');

const twoHandlers = (eventName: string, one: string, other: string) =>
  new WebhookError(
    'invalid-options',
    one === other
      ? `${one} would handle ${eventName} twice. Decorate it once, and list its class as a provider once.`
      : `Two methods handle ${eventName}: ${one} and ${other}. Keep one handler for each event, and call the other from it. List a class with handlers as a provider of one module only, and export it from there.`,
  );
