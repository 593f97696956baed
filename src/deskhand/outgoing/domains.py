"""Endings of host names by which a bare `name.ending` in running text is taken for a host."""

_COUNTRIES = """
ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt
bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er
es et eu fi fj fk fm fo fr ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht
hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr
ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng
ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd
se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw
tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw
"""
_GENERIC = """
academy adult aero africa agency amsterdam apartments app arpa art asia associates auction audio
auto baby band bank bar beauty beer berlin bet bid bike bio bit biz blog boutique build builders
business buzz cafe capital car care cars cash casino cat center charity chat church city click
clinic clothing cloud club coffee com community company construction contractors cool coop
credit cruises crypto dance dating deals delivery dental design dev digital discount doctor dog
download earth eco edu email energy engineering estate eth example exchange expert exposed
express fail faith family farm fashion film finance financial fish fitness flights flowers foo
football forum foundation fun fund gallery game games garden gift gifts gle gmbh gold golf gov
graphics green gripe group guide guru hair hamburg health healthcare help hockey holiday homes
horse host hosting hotel hotels house how i2p icu immo inc industries info insurance int
internal invalid irish jobs kids kitchen koeln lan land law lawyer legal limited limo link live
llc loan local lol london love ltd makeup market markets media miami mil mobi mom money moscow
motorcycles mov movie museum music name net network news ninja nyc observer onion online org
organic page paris partners parts pet pharmacy photo photography photos pictures pizza poker
porn post press pro promo properties pub quebec recipes reisen rent rentals repair report
restaurant review reviews rocks run sale salon sarl school science scot server services sex
shoes shop singles site ski soccer social solar solutions soy spa space srl store stream studio
style sucks supply support surf swiss systems tax taxi team tech tel tennis test theater tips
today tokyo tools top tours town toys trade trading training travel university vacations vegas
ventures video villas vip wales website wedding wien wiki win wine work works world wtf xxx xyz
yoga zip zone
"""
COUNTRIES = frozenset(_COUNTRIES.split())
GENERIC = frozenset(_GENERIC.split())
_FILE_ENDINGS = "zip mov md py sh ps so rs pl cat bar bit post test run"
FILES = frozenset(_FILE_ENDINGS.split())
"""Endings of files and plain words: a host only with a path, `www.` or a scheme."""
ABBREVIATIONS = frozenset(
    f"{word}.no" for word in ("ref", "art", "inv", "item", "order", "part", "reg", "serial", "tel")
)
"""What people write without a space."""
