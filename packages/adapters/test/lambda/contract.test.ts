import { adapterContractTests } from '@call-webhooks/contract-tests';
import { callWebhooks, ready, type LambdaHttpEvent } from '../../src/lambda.ts';
import { serveTrigger, TRIGGERS } from './triggers.ts';

const pathOf = (event: LambdaHttpEvent) => ('httpMethod' in event ? event.path : event.rawPath);

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
      const probed = ready(handler);
      const { origin, close } = await serveTrigger(trigger, (event, context) =>
        pathOf(event) === '/ready' ? probed(event) : handler(event, context),
      );
      const [url, readyUrl] = [`${origin}/hook`, `${origin}/ready`];
      return { url, readyUrl, receiver: handler.receiver, close };
    },
  });
}
