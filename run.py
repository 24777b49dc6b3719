from shop import f
ok = bad = 0
for x in (1, 2):
    try:
        assert f(x) == 2
        ok += 1
    except AssertionError:
        bad += 1
print(f"{bad} failed, {ok} passed in 0.01s")
raise SystemExit(bool(bad))
