import { storeContractTests } from '@call-webhooks/contract-tests';
import { memoryStore } from '../src/index.ts';

storeContractTests({
  name: 'memoryStore',
  open() {
    let clock = 1_800_000_000_000;
    const now = () => clock;
    return Promise.resolve({
      store: memoryStore({ now }),
      now,
      advance: (ms) => void (clock += ms),
    });
  },
});
