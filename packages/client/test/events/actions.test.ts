import { expect, test } from '@jest/globals';
import { ACTIVITY_ACTIONS, isActivityAction } from '../../src/events/actions.ts';

test('knows the seven types of the spec', () => {
  expect(ACTIVITY_ACTIONS).toHaveLength(7);
  expect(ACTIVITY_ACTIONS.every(isActivityAction)).toBe(true);
  expect(['bounced', '', undefined, 'Opened'].some(isActivityAction)).toBe(false);
});
