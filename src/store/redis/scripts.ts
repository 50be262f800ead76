/**
 * The scripts of an engine in Redis. Each is atomic, and checks before its first write. A client may send a script again by
 * itself: a name in its values, which the session keeps, says that it was carried out.
 */

/**
 * KEYS: session. ARGV: the name of the making, and field and value of each field. Answers 0 where a session is there already.
 */
export const makeScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('HGET', KEYS[1], 'step') == ARGV[1] and 1 or 0 end
redis.call('HSET', KEYS[1], 'step', unpack(ARGV))
return 1`;

/**
 * Steps of several sessions. KEYS: of each its hash and its logs; where it gets another id these again under that, and the set
 * of what was put aside. ARGV: of each the revision before and after, the name of the step, the new id or "", whether it is
 * emptied, how many fields and lines, then field and value of each, and place of the log, number, place and text of each line.
 * Answers two texts for each: \`made\`, and \`moved\` where lists have to follow; \`other\` for another revision; \`gone\`; \`error\`, and the server's words. A server whose
 * memory is full lets a script go on whose first write takes away: there sessions are trashed, erased and let go of as well.
 */
export const stepScript = `
local answers, key, at = {}, 1, 1
while key <= #KEYS do
  local fields, lines, to = tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6]), ARGV[at + 3]
  local first = at + 7 + 2 * fields
  local outcome, told = 'made', ''
  local s = redis.call('HMGET', KEYS[key], 'revision', 'step')
  if not s[1] then outcome = (to ~= '' and redis.call('HGET', KEYS[key + 8], 'step') == ARGV[at + 2]) and 'made' or 'gone'
  elseif s[2] == ARGV[at + 2] then outcome = 'made'
  elseif s[1] ~= ARGV[at] then outcome = 'other'
  else
    if lines == 0 then redis.call('HDEL', KEYS[key], 'step') end
    if ARGV[at + 4] == '1' then redis.call('UNLINK', unpack(KEYS, key + 1, key + 7)) end
    for i = first, first + 4 * lines - 1, 4 do
      local log, seq = KEYS[key + tonumber(ARGV[i])], ARGV[i + 1]
      local added = redis.pcall('XADD', log, seq .. '-0', 'line', ARGV[i + 3], 'pos', ARGV[i + 2])
      if type(added) == 'table' and added.err and string.find(added.err, 'equal or smaller') then
        local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1][1]
        local dash = string.find(last, '-')
        local id = seq .. '-' .. string.format('%.0f', tonumber(string.sub(last, dash + 1)) + 1)
        if string.sub(last, 1, dash - 1) == seq then
          added = redis.pcall('XADD', log, id, 'line', ARGV[i + 3], 'pos', ARGV[i + 2])
        end
      end
      if type(added) == 'table' and added.err then
        outcome, told = 'error', added.err
        break
      end
    end
    if outcome == 'made' then
      local values = { 'revision', ARGV[at + 1], 'step', ARGV[at + 2] }
      if ARGV[at + 4] == '1' then values[5], values[6] = 'origin', ARGV[at + 1] end
      for i = at + 7, first - 1 do values[#values + 1] = ARGV[i] end
      local before = redis.call('HMGET', KEYS[key], 'created_ms', 'owner')
      local set = redis.pcall('HSET', KEYS[key], unpack(values))
      local after = redis.call('HMGET', KEYS[key], 'created_ms', 'owner')
      if before[1] ~= after[1] or before[2] ~= after[2] or to ~= '' then told = 'moved' end
      if type(set) == 'table' and set.err then outcome, told = 'error', set.err
      elseif to ~= '' then
        for i = key, key + 7 do
          if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('RENAME', KEYS[i], KEYS[i + 8]) end
        end
        redis.call('SADD', KEYS[key + 16], to)
      end
    end
  end
  answers[#answers + 1] = outcome
  answers[#answers + 1] = told
  key, at = key + (to ~= '' and 17 or 8), first + 4 * lines
end
return answers`;

/** KEYS: session, logs, the set of what was put aside. ARGV: revision, id. Removes a session; answers 0 where it has another. */
export const removeScript = `
if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[1] then return 0 end
redis.call('UNLINK', unpack(KEYS, 1, 8))
redis.call('SREM', KEYS[9], ARGV[2])
return 1`;

/** KEYS: session, a sorted set. ARGV: id. Takes a session that is not there from the set. */
export const unlistScript = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
return redis.call('ZREM', KEYS[2], ARGV[1])`;

/** KEYS: sessions. ARGV: the time, and the taking of each. Says that holders live, at a server whose memory is full, too. */
export const beatScript = `
for i = 1, #KEYS do
  if redis.call('HGET', KEYS[i], 'taking') == ARGV[i + 1] then
    redis.call('HDEL', KEYS[i], 'beat')
    redis.call('HSET', KEYS[i], 'beat', ARGV[1])
  end
end`;

/**
 * KEYS: session, log. ARGV: a command that reads the log, and what stands behind its key. Answers the session's origin, the
 * newest line, and what the command does; nothing where the session is gone, or lists leave it out.
 */
export const readScript = `
local s = redis.call('HMGET', KEYS[1], 'origin', 'hidden')
if not s[1] or s[2] == '1' then return false end
return { s[1], redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1), redis.call(ARGV[1], KEYS[2], unpack(ARGV, 2)) }`;
