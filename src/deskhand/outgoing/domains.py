"""Endings of host names by which a bare `name.ending` in running text is taken for a host."""

from functools import cache
from pathlib import Path

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
GENERIC = frozenset(_GENERIC.split())
_FILE_ENDINGS = "zip mov md py test"
FILES = frozenset(_FILE_ENDINGS.split())
"""Endings of files and plain words: a host only with a path, `www.` or a scheme."""
_SENTENCE_WORDS = """
ai al am as at be bo by co de do es et eu im in is it la le li ma me mo mu my na ne ni no nu or po
ps se si so st su to tu us za call here how like man men now one open play read save see show try
you one off next best life
"""
BEGIN_SENTENCES = frozenset(_SENTENCE_WORDS.split())
"""Endings that are also words with which a sentence begins."""
ABBREVIATIONS = frozenset(
    f"{word}.no" for word in ("ref", "art", "inv", "item", "order", "part", "reg", "serial", "tel")
)
"""What people write without a space."""


@cache
def top_level_domains() -> frozenset[str]:
    """Every ending that there is, in small letters and in punycode."""
    file = Path(__file__).with_name("top_level_domains.txt")
    lines = file.read_text(encoding="ascii").splitlines()
    return frozenset(" ".join(line for line in lines if not line.startswith("#")).split())
