import { ApiError, attempt, Button, openDialog } from '@call-webhooks/ui';
import type { DeliveryView } from '@call-webhooks/simulator/control-api';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { fetchDelivery } from '../state/api.ts';
import { closeGone, store } from '../state/page-state.ts';
import { lastAttempt } from '../state/receiver.ts';
import { AttemptCard } from './attempt-card.tsx';
import { Compare } from './compare.tsx';
import { Head, Properties, Story } from './detail-head.tsx';
import { OutcomeNote } from './outcome-note.tsx';

let wanted = false;
const title = () => document.getElementById('detail-title');

/** Moves the focus to the details of a delivery, as soon as they are there. */
export function focusDetail(id: string): void {
  wanted = true;
  if (title()?.dataset['id'] === id) takeFocus();
}

function takeFocus(): void {
  if (wanted) title()?.focus();
  wanted = false;
}

/** The delivery with its bodies. The last one stays until the next has arrived. */
function useDelivery(id: string): DeliveryView | undefined {
  const [delivery, setDelivery] = useState<DeliveryView>();
  const latest = useRef(0);
  const asked = useRef(0);
  const summary = store.deliveries.get(id);
  useEffect(() => {
    const turn = ++asked.current;
    void attempt(async () => {
      const found = await fetchDelivery(id).catch((error: unknown) => {
        // After a restart or a reset, the delivery may be gone, and its details go with it.
        if (!(error instanceof ApiError) || error.code !== 'not-found') throw error;
        if (store.selected === id) closeGone();
        return undefined;
      });
      if (!found) return;
      if (store.selected !== id || turn < latest.current) return;
      latest.current = turn;
      setDelivery(found);
    });
  }, [id, summary, store.syncs]);
  return delivery;
}

/** The selected delivery with all its attempts. */
export function Detail({ id }: { readonly id: string }) {
  const pane = useRef<HTMLElement>(null);
  const delivery = useDelivery(id);
  const before = useRef<DeliveryView | undefined>(undefined);
  // The newest attempt is unfolded when the delivery is shown, or has its first attempt.
  const opens = before.current?._id !== delivery?._id || before.current?.attempts.length === 0;
  useLayoutEffect(() => {
    if (!delivery) return;
    if (before.current?._id !== delivery._id && pane.current) pane.current.scrollTop = 0;
    before.current = delivery;
    if (delivery._id === id) takeFocus();
  }, [delivery, id]);
  const attempts = [...(delivery?.attempts ?? [])].reverse();
  return (
    <section
      class="detail"
      id="detail"
      aria-labelledby="detail-title"
      hidden={!delivery}
      ref={pane}
    >
      {delivery && (
        <>
          <div class="detail-head">
            <Head delivery={delivery} />
            <Story delivery={delivery} />
            <OutcomeNote last={lastAttempt(delivery.attempts)} outcomes={store.outcomes} />
            <Properties delivery={delivery} />
          </div>
          {attempts.length > 1 && (
            <div class="attempts-tools">
              <Button
                label="Compare attempts"
                kind="ghost"
                small
                onClick={() => {
                  compare(delivery.attempts);
                }}
              />
            </div>
          )}
          <ol class="attempts" aria-label="Attempts, newest first" reversed key={delivery._id}>
            {attempts.map((one, at) => (
              <AttemptCard
                key={`${one.kind} ${String(one.number)}`}
                attempt={one}
                opens={opens && at === 0}
              />
            ))}
          </ol>
          {attempts.length === 0 && <p class="none">Nothing has been sent yet.</p>}
        </>
      )}
    </section>
  );
}

function compare(attempts: DeliveryView['attempts']): void {
  openDialog((remove) => <Compare attempts={attempts} onClose={remove} />);
}
