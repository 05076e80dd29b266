import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HeldLeases } from '../src/held-leases.ts';

describe('the leases of this process', () => {
  let held: HeldLeases;
  beforeEach(() => {
    jest.useFakeTimers();
    held = new HeldLeases();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('are held until they run out, by their token alone', () => {
    held.take('key', 'token', 7, 1_000);
    expect(held.holds('key', 'token')).toBe(true);
    expect(held.holds('key', 'other')).toBe(false);
    expect(held.holds('other', 'token')).toBe(false);
    jest.advanceTimersByTime(1_001);
    expect(held.holds('key', 'token')).toBe(false);
  });

  it('know the row of their event until they are ended', () => {
    held.take('key', 'token', 7, 1_000);
    expect(held.rowOf('key', 'token')).toBe(7);
    expect(held.rowOf('key', 'other')).toBeUndefined();
    expect(held.rowOf('other', 'token')).toBeUndefined();
    held.end('key', 'token');
    expect(held.rowOf('key', 'token')).toBeUndefined();
  });

  it('are ended by their token alone', () => {
    held.take('key', 'token', 7, 1_000);
    held.end('key', 'other');
    held.end('other', 'token');
    expect(held.holds('key', 'token')).toBe(true);
    held.end('key', 'token');
    expect(held.holds('key', 'token')).toBe(false);
    expect(held.size).toBe(0);
  });

  it('are forgotten once they have run out, and no others are', () => {
    for (let lease = 0; lease < 10; lease++) {
      held.take(`key ${String(lease)}`, 'token', 7, 1_000);
      jest.advanceTimersByTime(300);
    }
    expect(held.size).toBe(4); // 3,000 ms have passed: those of the last 1,000, and one to be swept
    held.take('last', 'token', 7, 1_000);
    expect(held.size).toBe(4);
    expect(['key 7', 'key 8', 'key 9', 'last'].every((key) => held.holds(key, 'token'))).toBe(true);
  });

  it('are swept in the order in which they were taken last', () => {
    held.take('extended', 'token', 7, 1_000);
    held.take('short', 'token', 7, 1_000);
    jest.advanceTimersByTime(900);
    held.take('extended', 'token', 7, 1_000);
    jest.advanceTimersByTime(200);
    held.take('new', 'token', 7, 1_000);
    expect(held.size).toBe(2);
    expect(held.holds('extended', 'token')).toBe(true);
  });
});
