import { deadLettersContractTests } from '@call-webhooks/contract-tests';
import { memoryDeadLetters } from '../../src/index.ts';

deadLettersContractTests({
  name: 'memoryDeadLetters',
  open() {
    let clock = 0;
    return Promise.resolve({
      deadLetters: memoryDeadLetters({ now: () => clock }),
      advance: (ms) => void (clock += ms),
    });
  },
});
