import { adapterContractTests } from '@call-webhooks/contract-tests';
import { callWebhooks } from '../../src/lambda.ts';
import { serveTrigger, TRIGGERS } from './triggers.ts';

for (const trigger of TRIGGERS) {
  adapterContractTests({
    name: `Lambda behind ${trigger.name}`,
    host: {
      readsBody: true,
      waitsForLateHandlers: true,
      ...(!trigger.name.includes('binary') && { decodesBody: true }),
    },
    async mount(options) {
      const handler = callWebhooks(options);
      const { origin, close } = await serveTrigger(trigger, handler);
      return { url: `${origin}/hook`, receiver: handler.receiver, close };
    },
  });
}
