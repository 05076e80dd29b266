import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface Tab<Id extends string> {
  readonly id: Id;
  readonly label: string;
  /** A number beside the label; hidden while it is 0. */
  readonly count?: number;
  /** What needs attention, for screen readers: the number's colour says it too. */
  readonly suffix?: string | undefined;
}

interface TabListProps<Id extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Id>[];
  readonly current: Id;
  readonly onChange: (id: Id) => unknown;
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
};

/** The tabs above panels. Arrow keys move between them. A panel has the id `panel-<id>`. */
export function TabList<Id extends string>(props: TabListProps<Id>) {
  const { label, tabs, current, onChange } = props;
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const tab = list.current?.querySelector('[aria-selected=true]');
    tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  const move = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined || !list.current) return;
    event.preventDefault();
    const elements = [...list.current.querySelectorAll<HTMLElement>('[role=tab]')];
    const visible = elements.filter((one) => one.offsetParent !== null);
    const at = visible.findIndex((one) => one === document.activeElement);
    const next = visible[(at + step + visible.length) % visible.length];
    next?.focus();
    next?.click();
  };
  return (
    <div class="tabs" id="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map(({ id, label: name, count = 0, suffix }) => (
        <button
          key={id}
          type="button"
          role="tab"
          id={`tab-${id}`}
          aria-controls={`panel-${id}`}
          aria-selected={id === current}
          tabIndex={id === current ? 0 : -1}
          onClick={() => void onChange(id)}
        >
          {name}{' '}
          <span class="tab-count" hidden={count === 0} data-bad={suffix ? '' : undefined}>
            {count.toLocaleString()}
            {suffix && <span class="tab-suffix"> {suffix}</span>}
          </span>
        </button>
      ))}
    </div>
  );
}

interface TabPanelProps {
  /** The id of its tab. */
  readonly id: string;
  /** Whether it has nothing to focus, and so takes the focus itself to scroll by keyboard. */
  readonly scrolls?: boolean;
  readonly children: ComponentChildren;
}

/** What a tab shows. */
export const TabPanel = ({ id, scrolls, children }: TabPanelProps) => (
  <section
    class="panel"
    id={`panel-${id}`}
    role="tabpanel"
    aria-labelledby={`tab-${id}`}
    tabIndex={scrolls ? 0 : undefined}
  >
    {children}
  </section>
);
