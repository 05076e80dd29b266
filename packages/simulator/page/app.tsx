import { Notices, TabList, TabPanel, type Tab } from '@call-webhooks/ui';
import { Deliveries } from './deliveries/deliveries.tsx';
import { Detail, focusDetail } from './detail/detail.tsx';
import { CallsPanel, OutboxPanel } from './panels/calls-panel.tsx';
import { ChaosPanel } from './panels/chaos-panel.tsx';
import { RulesPanel } from './panels/rules-panel.tsx';
import { choose } from './state/actions.ts';
import { store, type Section } from './state/store.ts';
import { TopBar } from './top-bar.tsx';

interface AppProps {
  /** The address of the icon. */
  readonly icon: string;
  readonly showHelp: () => void;
}

/** The whole page. */
export function App(props: AppProps) {
  const { section, selected } = store;
  return (
    <div class="app" data-section={section} data-detail={selected === undefined ? undefined : ''}>
      <a class="skip" href="#timeline">
        Skip to the deliveries
      </a>
      <TopBar {...props} />
      <main>
        <div class="side">
          <TabList
            label="Parts of the simulator"
            tabs={tabs()}
            current={section}
            onChange={(id) => {
              store.show(id);
            }}
          />
          <TabPanel id="rules">
            <RulesPanel />
          </TabPanel>
          <TabPanel id="calls">
            <CallsPanel />
          </TabPanel>
          <TabPanel id="outbox" scrolls>
            <OutboxPanel />
          </TabPanel>
          <TabPanel id="chaos">
            <ChaosPanel />
          </TabPanel>
        </div>
        <Deliveries onChoose={chooseRow} />
        {selected !== undefined && <Detail id={selected} />}
      </main>
      <Notices />
    </div>
  );
}

function chooseRow(id: string, byKeyboard: boolean): void {
  choose(id);
  if (byKeyboard) focusDetail(id);
}

function tabs(): Tab<Section>[] {
  const { rules, counts, chaos } = store.state;
  const paused = rules.filter(({ state }) => state === 'paused').length;
  const modes = Object.values(chaos).filter((probability) => probability > 0).length;
  const deliveries = Object.values(counts.deliveries).reduce((sum, count) => sum + count, 0);
  return [
    { id: 'deliveries', label: 'Deliveries', count: deliveries },
    {
      id: 'rules',
      label: 'Rules',
      count: rules.length,
      suffix: paused > 0 ? `(${String(paused)} paused)` : undefined,
    },
    { id: 'calls', label: 'Calls', count: counts.calls },
    { id: 'outbox', label: 'Outbox', count: counts.mails },
    { id: 'chaos', label: 'Chaos', count: modes, suffix: 'on' },
  ];
}
