# A handler for `call-webhooks check --effects`: it does what the call id asks for, and counts.
module Effects
  @attempts = Hash.new(0)
  @effects = Hash.new(0)
  @lock = Mutex.new

  def self.handle(event)
    key = "#{event['callId']}:#{event['eventName']}"
    attempt = @lock.synchronize { @attempts[key] += 1 }
    sleep(key[/\.slow-(\d+)/, 1].to_i / 1000.0)
    raise 'as asked' if attempt <= key[/\.fail-(\d+)/, 1].to_i

    @lock.synchronize { @effects[key] += 1 }
  end

  def self.report
    @lock.synchronize { @effects.map { |key, count| { key: key, count: count } } }
  end
end
