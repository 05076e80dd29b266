import { Module, type DynamicModule } from '@nestjs/common';
import type { ReceiverOptions, StandardSchema } from '@call-webhooks/core';
import { CallWebhooksModule, OnCallEvent, type CallWebhooksModuleOptions } from '../src/index.ts';

@Module({})
class App {}

/** An app whose `on` and `events` are methods of a provider. */
export function moduleWith(
  { on = {}, events = {}, ...options }: Partial<ReceiverOptions>,
  more: Partial<CallWebhooksModuleOptions> = {},
): DynamicModule {
  class Handlers {
    readonly on = on;
  }
  for (const [eventName, handle] of Object.entries(on)) {
    const descriptor = { value: handle as () => unknown, writable: true, configurable: true };
    Object.defineProperty(Handlers.prototype, eventName, descriptor);
    const schema = (events as Record<string, StandardSchema>)[eventName];
    OnCallEvent(eventName, schema as StandardSchema)(Handlers.prototype, eventName, descriptor);
  }
  const imported = CallWebhooksModule.forRoot({
    path: '/hook',
    secret: undefined,
    ...options,
    ...more,
  });
  return { module: App, imports: [imported], providers: [Handlers] };
}
