export * from '@call-webhooks/core';
export { CallWebhooks, type NestParts } from './call-webhooks.ts';
export type { FoundHandlers } from './find-handlers.ts';
export { CallWebhooksModule } from './module.ts';
export { OnCallEvent } from './on-call-event.ts';
export type { CallWebhooksModuleOptions, CallWebhooksOptionsFactory } from './options.ts';
