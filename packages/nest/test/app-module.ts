import { Inject, Injectable, Module, type DynamicModule } from '@nestjs/common';
import {
  generateSecret,
  type CallCompletedEvent,
  type CallStartedEvent,
  type HandlerContext,
} from '@call-webhooks/core';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { z } from 'zod';
import { CallWebhooksModule, OnCallEvent } from '../src/index.ts';

export const secret = generateSecret();
/** What the handlers saved. */
export const saved: string[] = [];

@Injectable()
export class Crm {
  save(text: string) {
    saved.push(text);
  }
}

@Injectable()
export class CrmHandlers {
  readonly crm: Crm;
  constructor(@Inject(Crm) crm: Crm) {
    this.crm = crm;
  }

  @OnCallEvent('call:started')
  @OnCallEvent('call:completed')
  onCall(event: CallStartedEvent | CallCompletedEvent, context: HandlerContext) {
    this.crm.save(`${event.eventName} ${String(event.callId)} ${String(context.attempt)}`);
  }

  @OnCallEvent('call:voicemail', z.object({ seconds: z.number() }))
  onVoicemail(event: { seconds: number }) {
    this.crm.save(`voicemail ${String(event.seconds)}`);
  }
}

@Module({})
export class EmptyModule {}

/** An app with the module, `Crm` and handlers. */
export function appModule(
  more: object = {},
  { providers = [CrmHandlers], ...rest }: Partial<DynamicModule> = {},
): DynamicModule {
  const options = { path: '/hook', secret, logger: collectingLogger(), ...more };
  const imported = CallWebhooksModule.forRoot(options);
  return { module: EmptyModule, ...rest, imports: [imported], providers: [Crm, ...providers] };
}
