// Run by runners.test.ts.
import * as runner from 'node:test';
import { deadLettersContractTests, storeContractTests } from '../../src/index.ts';
import { openMemoryDeadLetters, openMemoryStore, WITHOUT } from '../memory.ts';

storeContractTests(runner, { name: 'memoryStore', without: WITHOUT, open: openMemoryStore });
deadLettersContractTests(runner, {
  name: 'memoryDeadLetters',
  without: ['refusals'],
  open: openMemoryDeadLetters,
});

// The interface says what a store may lack, and this one does not say that it lacks the log.
storeContractTests(runner, {
  name: 'a store that hides its log',
  without: WITHOUT,
  async open() {
    const opened = await openMemoryStore();
    return { ...opened, store: { ...opened.store, log: undefined } };
  },
});
